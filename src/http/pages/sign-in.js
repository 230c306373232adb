// Says so when the last try was wrong.
const wrong = document.getElementById("wrong");
if (wrong && new URLSearchParams(location.search).has("wrong")) wrong.hidden = false;
