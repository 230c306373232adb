// Links one account with its phone: reads its state every second, shows the code of the moment, asks for another.

const [, , channel, name] = location.pathname.split("/").map(decodeURIComponent);
const find = (id) => document.getElementById(id);
let drawn;

/** What each state means to whoever stands there with the phone in hand. */
const words = {
  starting: "Connecting …",
  unpaired: "Waits to be linked",
  open: "Linked",
  reconnecting: "Connecting …",
  stopped: "Stopped",
};

function show({ state, reason, qr, pairing_code: code }) {
  find("account").textContent = `${channel}:${name}`;
  find("state").textContent = words[state] ?? state;
  find("state").dataset.state = state;
  find("reason").textContent = reason ?? "";
  find("reason").hidden = !reason;
  find("scan").hidden = qr === undefined || code !== undefined;
  find("type").hidden = code === undefined;
  find("code").textContent = code === undefined ? "" : `${code.slice(0, 4)}-${code.slice(4)}`;
  find("ask").hidden = state !== "unpaired" && state !== "stopped";
  find("again").hidden = qr !== undefined && code === undefined;
  if (qr !== undefined && qr !== drawn) find("qr").src = `${location.pathname}/qr.svg?${Date.now()}`;
  drawn = qr;
}

async function refresh() {
  const response = await fetch("/v1/channels").catch(() => undefined);
  if (response?.status === 401) location.assign("/sign-in");
  if (!response?.ok) {
    find("state").textContent = "Dale does not answer.";
    return;
  }
  const { items } = await response.json();
  const account = items.find((each) => each.channel === channel && each.name === name);
  if (account) show(account);
}

async function ask(body) {
  find("failed").hidden = true;
  const path = `/v1/channels/${encodeURIComponent(channel)}/${encodeURIComponent(name)}/pair`;
  const headers = { "content-type": "application/json" };
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) {
    const { error } = await response.json();
    find("failed").textContent = error.message;
    find("failed").hidden = false;
  }
  await refresh();
}

find("again").addEventListener("submit", (event) => {
  event.preventDefault();
  void ask({});
});
find("by-phone").addEventListener("submit", (event) => {
  event.preventDefault();
  void ask({ phone: find("phone").value });
});
await refresh();
setInterval(() => void refresh(), 1000);
