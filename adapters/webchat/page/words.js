/** The page's own words. What people and agents write is never touched. */

const en = {
  lang: "en",
  write: "Write a message",
  send: "Send",
  empty: "Write a message to begin.",
  log: "Conversation",
  you: "You",
  online: "Online",
  connecting: "Connecting…",
  reconnecting: "Reconnecting…",
  offline: "You are offline. What you write is sent when you are back.",
  elsewhere: "This chat is open in other tabs. Click here to go on.",
  refused: "This browser keeps no cookies, and without one there is no chat. Allow them and load the page again.",
  typing: "writing…",
  today: "Today",
  yesterday: "Yesterday",
  waiting: "Waiting to be sent",
  sending: "Sending",
  sent: "Sent",
  taken: "Received",
  notSent: "Not sent.",
  retry: "Try again",
  discard: "Delete",
  down: "To the newest message",
  /** @type {(count: number) => string} */
  news: (count) => (count === 1 ? "1 new message" : `${count} new messages`),
  /** @type {(count: number) => string} */
  tooLong: (count) => `Too long by ${count === 1 ? "1 character" : `${count} characters`}`,
  /** @type {(count: number) => string} */
  left: (count) => (count === 1 ? "1 character left" : `${count} characters left`),
};

/** @typedef {typeof en} Words */

/** @type {Words} */
const es = {
  lang: "es",
  write: "Escribe un mensaje",
  send: "Enviar",
  empty: "Escribe un mensaje para empezar.",
  log: "Conversación",
  you: "Tú",
  online: "En línea",
  connecting: "Conectando…",
  reconnecting: "Reconectando…",
  offline: "No tienes conexión. Lo que escribas se envía cuando vuelva.",
  elsewhere: "Este chat está abierto en otras pestañas. Haz clic aquí para seguir.",
  refused: "Este navegador no guarda cookies, y sin ellas no hay chat. Permítelas y vuelve a cargar la página.",
  typing: "escribiendo…",
  today: "Hoy",
  yesterday: "Ayer",
  waiting: "Espera para enviarse",
  sending: "Enviando",
  sent: "Enviado",
  taken: "Recibido",
  notSent: "No se envió.",
  retry: "Reintentar",
  discard: "Borrar",
  down: "Al último mensaje",
  news: (count) => (count === 1 ? "1 mensaje nuevo" : `${count} mensajes nuevos`),
  tooLong: (count) => `Sobra${count === 1 ? " 1 carácter" : `n ${count} caracteres`}`,
  left: (count) => (count === 1 ? "Queda 1 carácter" : `Quedan ${count} caracteres`),
};

/** @type {Words} */
const esAR = {
  ...es,
  lang: "es-AR",
  write: "Escribí un mensaje",
  empty: "Escribí un mensaje para empezar.",
  you: "Vos",
  offline: "No tenés conexión. Lo que escribas se envía cuando vuelva.",
  elsewhere: "Este chat está abierto en otras pestañas. Hacé clic acá para seguir.",
  refused: "Este navegador no guarda cookies, y sin ellas no hay chat. Permitilas y volvé a cargar la página.",
};

/** @type {Words} */
const ptBR = {
  lang: "pt-BR",
  write: "Escreva uma mensagem",
  send: "Enviar",
  empty: "Escreva uma mensagem para começar.",
  log: "Conversa",
  you: "Você",
  online: "Online",
  connecting: "Conectando…",
  reconnecting: "Reconectando…",
  offline: "Você está sem conexão. O que escrever será enviado quando ela voltar.",
  elsewhere: "Esta conversa está aberta em outras abas. Clique aqui para continuar.",
  refused: "Este navegador não guarda cookies, e sem eles não há conversa. Permita-os e recarregue a página.",
  typing: "escrevendo…",
  today: "Hoje",
  yesterday: "Ontem",
  waiting: "Aguardando envio",
  sending: "Enviando",
  sent: "Enviada",
  taken: "Recebida",
  notSent: "Não foi enviada.",
  retry: "Tentar de novo",
  discard: "Apagar",
  down: "Para a última mensagem",
  news: (count) => (count === 1 ? "1 mensagem nova" : `${count} mensagens novas`),
  tooLong: (count) => `${count === 1 ? "1 caractere" : `${count} caracteres`} a mais`,
  left: (count) => (count === 1 ? "Resta 1 caractere" : `Restam ${count} caracteres`),
};

/** Regions where people say "vos". */
const voseo = /^es-(AR|UY|PY)\b/i;

/**
 * @param {string | undefined} language of the account if it has one, else of the browser
 * @returns {Words}
 */
export function wordsFor(language) {
  if (language === undefined) return en;
  if (voseo.test(language)) return esAR;
  if (/^es\b/i.test(language)) return es;
  if (/^pt\b/i.test(language)) return ptBR;
  return en;
}
