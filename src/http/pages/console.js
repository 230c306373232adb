// The operators' page: reads /v1 every few seconds and shows it. Everything is set as text, never as HTML.

const seconds = 3;
const find = (selector) => document.querySelector(selector);
let chosen = decodeURIComponent(location.hash.slice(1));

async function read(path) {
  const response = await fetch(path, { headers: { accept: "application/json" } });
  if (response.status === 401) location.assign("/sign-in");
  return response.ok || path === "/readyz" ? response.json() : undefined;
}

/** An element with text or children; properties are set as they are. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Replaces a list's items only when something changed, so that focus and selection stay. */
function fill(list, data, item) {
  const now = JSON.stringify(data);
  if (list.shown === now) return;
  list.shown = now;
  list.replaceChildren(...data.map(item));
}

const clock = (iso) => new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function showHealth(health) {
  const faults = Object.entries(health?.parts ?? {}).filter(([, state]) => state !== "ok");
  find("#health").textContent = !health
    ? "Dale does not answer."
    : faults.length === 0
      ? "Everything is running."
      : faults.map(([part, state]) => `${part}: ${state}`).join(" · ");
}

function channelItem({ channel, name, agent, state, reason, qr }) {
  const label = make("span", { className: "state", textContent: `${channel}:${name}` });
  label.dataset.state = state;
  const rest = [make("small", { textContent: ` ${state} → ${agent}` })];
  if (reason) rest.push(make("div", { className: "meta", textContent: reason }));
  if (qr || (channel === "whatsapp" && state !== "open" && state !== "reconnecting"))
    rest.push(make("div", {}, make("a", { href: `/pair/${channel}/${name}`, textContent: "Pair this account" })));
  if (channel === "webchat")
    rest.push(make("div", {}, make("a", { href: `/chat/${name}`, textContent: "Open the chat" })));
  return make("li", {}, label, ...rest);
}

function unsettledItem(item) {
  const comment = make("input", { name: "comment", placeholder: "How do you know?", required: true });
  comment.setAttribute("aria-label", "How do you know?");
  const form = make(
    "form",
    {},
    comment,
    make("button", { type: "submit", value: "executed", textContent: "It was executed" }),
    make("button", { type: "submit", value: "not_executed", textContent: "It was not executed" }),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = JSON.stringify({ result: event.submitter.value, comment: comment.value });
    const headers = { "content-type": "application/json" };
    await fetch(`/v1/unsettled/${encodeURIComponent(item.proposal)}`, { method: "POST", headers, body });
    await refresh();
  });
  return make(
    "li",
    {},
    make("strong", { textContent: item.notice }),
    make("div", { className: "meta", textContent: `${item.session} · since ${new Date(item.since).toLocaleString()}` }),
    form,
  );
}

/** Who decides, as they called themselves last. */
const reviewer = {
  get name() {
    return localStorage.getItem("reviewer") ?? "";
  },
  set name(name) {
    localStorage.setItem("reviewer", name);
  },
};

/** Comments that are being written: the list may change meanwhile. */
const drafts = new Map();

function approvalItem(item) {
  const field = (name, label, value) => {
    const input = make("input", { name, placeholder: label, value, maxLength: name === "comment" ? 2000 : 200 });
    input.setAttribute("aria-label", label);
    return input;
  };
  const comment = field("comment", "Comment", drafts.get(item.id) ?? "");
  comment.addEventListener("input", () => drafts.set(item.id, comment.value));
  const name = field("reviewer", "Your name", reviewer.name);
  name.required = true;
  const said = make("div", { className: "meta" });
  said.setAttribute("role", "status");
  const form = make(
    "form",
    {},
    comment,
    name,
    make("button", { type: "submit", value: "approve", textContent: "Approve" }),
    make("button", { type: "submit", value: "reject", textContent: "Reject" }),
  );
  // Enter in a field would press the first button: deciding takes a button of its own.
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) event.preventDefault();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    reviewer.name = name.value;
    const body = JSON.stringify({ comment: comment.value, reviewer: name.value });
    const headers = { "content-type": "application/json" };
    const path = `/v1/approvals/${encodeURIComponent(item.id)}/${event.submitter.value}`;
    const response = await fetch(path, { method: "POST", headers, body }).catch(() => undefined);
    if (response?.status === 409) said.textContent = "Somebody else was faster, or its time is over.";
    else if (!response?.ok) said.textContent = "That did not work. Nothing was decided.";
    await refresh();
  });
  const from = item.from === "app" ? "asked by an app" : `asked in ${item.session}`;
  const until = `until ${new Date(item.expires_at).toLocaleString()}`;
  const confirmed = item.confirmed === undefined ? [] : ["the person has said yes"];
  return make(
    "li",
    {},
    make("strong", { textContent: item.shows }),
    make("div", { className: "meta", textContent: [from, ...confirmed, until].join(" · ") }),
    form,
    said,
  );
}

const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;

function ruleItem({ tools, when, mode, checked, stopped, counts, accept }) {
  const name = make("code", { textContent: tools.join(", ") });
  const label = make("span", {
    className: "meta",
    textContent: ` ${mode}${when.map((each) => ` · ${each}`).join("")}`,
  });
  const did = mode === "observe" ? "would have stopped" : "stopped";
  const sum = make("div", { textContent: `${did} ${stopped} of ${counted(checked, "call", "calls")}` });
  sum.dataset.tone = stopped > 0 ? "warn" : "";
  const reasons = Object.entries(counts).map(([reason, count]) => `${reason}: ${count}`);
  const wants = `accepts ${accept.kinds.join(" or ")} by ${accept.roles.join(" or ")}`;
  const blind = counts.not_comparable > 0 ? " · some confirmations could not be compared: those block nothing" : "";
  const meta = make("div", { className: "meta", textContent: [wants, ...reasons].join(" · ") + blind });
  return make("li", {}, name, label, sum, meta);
}

function sessionItem({ id, last_at }) {
  const button = make(
    "button",
    { type: "button" },
    id,
    make("br"),
    make("small", { textContent: new Date(last_at).toLocaleString() }),
  );
  button.setAttribute("aria-current", String(id === chosen));
  button.addEventListener("click", () => {
    location.hash = encodeURIComponent(id);
  });
  return make("li", {}, button);
}

/** What each kind of evidence means to a reader, and how it is coloured. */
const words = {
  proposed: ["Proposed", "warn"],
  notice_sent: ["Notice sent", ""],
  notice_delivered: ["Notice delivered", "good"],
  notice_failed: ["Notice not delivered", "bad"],
  granted: ["Yes", "good"],
  discarded: ["Discarded by what the person wrote", "warn"],
  unseen: ["A yes to an unseen notice: shown again", "warn"],
  expired: ["Lapsed", "warn"],
  withdrawn: ["Withdrawn", "warn"],
  consumed: ["Running", "warn"],
  executed: ["Executed", "good"],
  failed: ["Failed", "bad"],
  parked: ["Waits for a reviewer too", "warn"],
  unknown: ["Nobody knows whether it ran", "bad"],
};

const bodies = {
  message: (item) => [
    make("div", { className: "text", textContent: item.text }),
    make("div", {
      className: "meta",
      textContent: item.desde_humano ? "written by the person" : `run by ${item.origin}`,
    }),
  ],
  call: (item) => [
    make("code", { textContent: item.tool }),
    make("span", {
      className: "meta",
      textContent: ` ${item.outcome}${item.code ? ` (${item.code})` : ""} · ${item.ms} ms`,
    }),
  ],
  answer: (item) => [
    make("div", { className: "text", textContent: item.text }),
    make("div", { className: "meta", textContent: `${item.outcome}, decision: ${item.decision} · ${item.ms} ms` }),
  ],
  delivery: (item) => [
    make("span", {
      className: "meta",
      textContent: `part ${item.index} of ${item.of}: ${item.state}${item.reason ? ` — ${item.reason}` : ""}`,
    }),
  ],
  evidence: (item) => {
    const [word, tone] = words[item.type] ?? [item.type, ""];
    const strong = make("strong", { textContent: word });
    strong.dataset.tone = tone;
    const decided = item.by
      ? [make("div", { textContent: `by ${item.by}${item.comment ? `: ${item.comment}` : ""}` })]
      : [];
    return [
      strong,
      " ",
      make("code", { textContent: item.tool }),
      ...decided,
      make("div", {
        className: "meta",
        textContent: `arguments ${item.args_hash.slice(0, 12)}… · proposal ${item.proposal}`,
      }),
    ];
  },
};

function storyItem(item) {
  const time = make("time", { dateTime: item.at, textContent: clock(item.at) });
  return make("li", { className: item.kind }, time, make("div", {}, ...bodies[item.kind](item)));
}

async function refresh() {
  const [health, channels, unsettled, approvals, policies, sessions] = await Promise.all([
    read("/readyz").catch(() => undefined),
    read("/v1/channels").catch(() => undefined),
    read("/v1/unsettled").catch(() => undefined),
    read("/v1/approvals").catch(() => undefined),
    read("/v1/policies").catch(() => undefined),
    read("/v1/sessions?limit=50").catch(() => undefined),
  ]);
  showHealth(health);
  if (channels) fill(find("#channels ul"), channels.items, channelItem);
  if (unsettled) {
    find("#unsettled").hidden = unsettled.items.length === 0;
    fill(find("#unsettled ul"), unsettled.items, unsettledItem);
  }
  if (approvals) {
    find("#approvals").hidden = approvals.items.length === 0;
    fill(find("#approvals ul"), approvals.items, approvalItem);
  }
  if (policies) {
    find("#policies").hidden = policies.items.length === 0;
    find("#ledger-off").hidden = policies.ledger !== "off";
    fill(find("#policies ul"), policies.items, ruleItem);
  }
  if (sessions) {
    find("#sessions .empty").hidden = sessions.items.length > 0;
    if (!chosen && sessions.items[0]) chosen = sessions.items[0].id;
    const list = find("#sessions ul");
    fill(
      list,
      sessions.items.map((each) => ({ ...each, current: each.id === chosen })),
      sessionItem,
    );
  }
  if (chosen) {
    const story = await read(`/v1/sessions/${encodeURIComponent(chosen)}`).catch(() => undefined);
    if (story) {
      find("#story-title").textContent = `${story.session} · ${story.opaque}`;
      fill(find("#story ol"), story.items, storyItem);
    }
  }
}

addEventListener("hashchange", () => {
  chosen = decodeURIComponent(location.hash.slice(1));
  void refresh();
});
await refresh();
setInterval(() => void refresh(), seconds * 1000);
