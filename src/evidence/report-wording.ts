type Words<Names extends string> = Readonly<Record<Names, string>>;

/** The words of a report. */
export interface ReportWording {
  readonly language: string;
  readonly title: string;
  readonly approvalTitle: string;
  /** What became of it. */
  readonly summary: {
    /** Of a proposal that the person was to confirm. */
    readonly consent: Words<"executed" | "failed" | "unknown" | "parked" | "none">;
    /** Of a call that a conversation parked for a reviewer. */
    readonly approval: Words<"executed" | "failed" | "unknown" | "granted" | "discarded" | "expired" | "waiting">;
    /** Of an application's own question: what it does with the answer is not seen here. */
    readonly app: Words<"granted" | "discarded" | "expired" | "waiting">;
    readonly erased: string;
  };
  readonly proposal: string;
  readonly person: string;
  /** Instead of the person, of an application's own question. */
  readonly session: string;
  readonly agent: string;
  readonly call: string;
  readonly arguments: string;
  readonly noArguments: string;
  readonly notice: string;
  readonly noticeNote: string;
  /** Of an approval, instead of the notice. */
  readonly shows: string;
  readonly showsNote: string;
  /** Of a proposal that waits for an approval as well. */
  readonly awaited: Words<"title" | "approval" | "outcome" | "page" | "none">;
  readonly story: string;
  readonly when: string;
  readonly what: string;
  readonly details: string;
  readonly timesNote: string;
  readonly proof: string;
  readonly proofNote: string;
  readonly whole: string;
  readonly broken: string;
  readonly installation: string;
  readonly chain: string;
  readonly block: string;
  readonly signature: string;
  readonly key: string;
  readonly made: string;
  /** By type, and for approvals by `approval_<type>`. */
  readonly steps: Readonly<Record<string, string>>;
  readonly delivery: Readonly<Record<string, string>>;
  readonly reasons: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

const es: ReportWording = {
  language: "es",
  title: "Constancia de consentimiento",
  approvalTitle: "Constancia de aprobación",
  summary: {
    consent: {
      executed: "La operación se ejecutó una vez, después de que la persona la confirmara por escrito.",
      failed: "La operación se autorizó, pero no se ejecutó.",
      unknown: "La operación se autorizó y se intentó; no consta cómo terminó.",
      parked:
        "La persona confirmó la operación por escrito, y además la tiene que aprobar un revisor: no se ejecutó bajo esta propuesta, sino que espera bajo esa aprobación.",
      none: "La operación no se ejecutó.",
    },
    approval: {
      executed: "La operación se ejecutó una vez, después de que un revisor la aprobara.",
      failed: "Un revisor aprobó la operación, pero no se ejecutó.",
      unknown: "Un revisor aprobó la operación y se intentó; no consta cómo terminó.",
      granted: "Un revisor aprobó la operación; no consta que haya empezado a ejecutarse.",
      discarded: "La operación no se ejecutó: un revisor la rechazó.",
      expired: "La operación no se ejecutó: ningún revisor la había aprobado cuando venció el pedido.",
      waiting: "La operación no se ejecutó: espera que un revisor decida.",
    },
    app: {
      granted:
        "A quien preguntó se le dijo que sí: un revisor lo aprobó. Este sistema no sabe si la operación se ejecutó: la ejecuta quien preguntó.",
      discarded: "A quien preguntó se le dijo que no: un revisor lo rechazó. La operación no la ejecuta este sistema.",
      expired:
        "A quien preguntó no se le dijo que sí: ningún revisor había decidido cuando venció o se retiró el pedido. La operación no la ejecuta este sistema.",
      waiting: "Ningún revisor decidió todavía: a quien preguntó no se le dijo nada.",
    },
    erased: "Los datos de la persona fueron borrados; quedan los pasos, sin contenido.",
  },
  proposal: "Operación propuesta",
  person: "Persona (canal : cuenta : chat : remitente)",
  session: "Sesión (como la nombró quien preguntó)",
  agent: "Agente",
  call: "Operación",
  arguments: "Argumentos exactos",
  noArguments: "Sin argumentos.",
  notice: "Texto exacto del aviso que se mostró",
  noticeNote:
    "Lo redacta el sistema, nunca el modelo, y termina el mensaje. Sin este aviso, entregado, no se acepta ninguna confirmación.",
  shows: "Texto exacto que vio el revisor",
  showsNote:
    "Lo redacta el sistema a partir de los argumentos exactos, nunca el modelo. Una aprobación vale para esta operación, con estos argumentos.",
  awaited: {
    title: "La aprobación que espera",
    approval: "Aprobación",
    outcome: "Qué fue de ella",
    page: "Su constancia",
    none: "No hay registro de que se la haya pedido: bajo esa aprobación no se ejecutó nada.",
  },
  story: "Qué pasó, en orden",
  when: "Cuándo (UTC)",
  what: "Qué",
  details: "Detalles",
  timesNote: "Las horas son del reloj del sistema, salvo las que dicen ser de la plataforma.",
  proof: "Cómo comprobarlo",
  proofNote:
    "Cada registro lleva el hash del anterior, y cada bloque lleva la firma de la instalación. El archivo JSONL de esta misma operación se verifica sin conexión, solo con la clave pública:",
  whole: "Al hacer esta constancia se verificaron los hashes y las firmas: nada fue alterado, quitado ni reordenado.",
  broken: "ATENCIÓN: al hacer esta constancia la verificación encontró alteraciones:",
  installation: "Instalación",
  chain: "Cadena y registros",
  block: "Bloque firmado",
  signature: "Firma (Ed25519)",
  key: "Clave pública (SHA-256)",
  made: "Hecha el",
  steps: {
    proposed: "El agente propuso la operación; no se ejecutó.",
    notice_sent: "El aviso se envió a la persona.",
    notice_delivered: "El aviso llegó.",
    notice_failed: "El aviso no llegó, o no se sabe.",
    granted: "La persona escribió una confirmación.",
    discarded: "La propuesta quedó sin efecto.",
    unseen: "La persona escribió una confirmación que no contó.",
    expired: "La propuesta venció.",
    withdrawn: "La propuesta se retiró.",
    consumed: "La confirmación se usó: la operación empezó a ejecutarse. No puede usarse otra vez.",
    executed: "La operación se ejecutó.",
    failed: "La operación no se ejecutó.",
    parked: "Una regla pide además la aprobación de un revisor: la operación no se ejecutó, y la espera.",
    unknown: "No se sabe si la operación se ejecutó. No se repitió.",
    delivery: "Mensaje con el aviso",
    delivery_without: "Mensaje que salió sin el aviso",
    approval_proposed: "Se pidió la aprobación de un revisor.",
    approval_granted: "Un revisor la aprobó.",
    approval_discarded: "Un revisor la rechazó.",
    approval_expired: "El pedido venció o se retiró sin que un revisor decidiera.",
    approval_consumed: "La aprobación se usó: la operación empezó a ejecutarse. No puede usarse otra vez.",
  },
  delivery: {
    queued: "en cola",
    sending: "entregándose a la plataforma",
    accepted: "aceptado por la plataforma",
    delivered: "entregado",
    read: "leído",
    failed: "no entregado",
    unknown: "no se sabe",
  },
  reasons: {
    other_words: "escribió otra cosa",
    not_typed: "no fue un texto escrito por la persona",
    quotes_other: "citaba otro mensaje",
    shown_too_often: "el aviso ya se había repetido",
    retracted: "la persona borró o cambió su mensaje",
    rejected: "el revisor la rechazó",
    not_sent: "el aviso no se había enviado",
    not_delivered: "no constaba que el aviso hubiera llegado",
    too_early: "se escribió antes que el aviso",
    buried: "después del aviso se había enviado otro mensaje",
    unused_grant: "la confirmación no se usó en su turno",
    run_failed: "el turno falló antes de mostrarla",
    run_repeated: "el turno se repitió antes de mostrarla",
    run_interrupted: "el proceso se interrumpió",
    turn_ended: "el turno terminó sin resultado",
    turn_given_up: "el turno se abandonó",
    nobody_decided: "nadie decidió",
    withdrawn: "quien la pidió la retiró",
  },
  labels: {
    words: "Texto escrito",
    message: "Id del mensaje",
    quoted: "Citando el aviso",
    sentAt: "Enviado (reloj de la plataforma)",
    deliveredAt: "Entregado (reloj de la plataforma)",
    platformAt: "Reloj de la plataforma",
    receivedAt: "Recibido",
    expiresAt: "Vence",
    part: "Mensaje",
    ref: "Id en la plataforma",
    level: "Nivel",
    state: "Estado",
    reason: "Motivo",
    code: "Código",
    result: "Resultado",
    by: "Por",
    comment: "Comentario",
    verdict: "Lo que dijo el operador",
    late: "Se supo después",
    again: "Se volvió a mostrar",
    grant: "Confirmada con el mensaje",
    confirmed: "Confirmada por la persona en la propuesta",
    told: "Lo que se le dijo a la persona de la operación",
    awaits: "Aprobación que espera",
  },
};

const en: ReportWording = {
  language: "en",
  title: "Record of consent",
  approvalTitle: "Record of approval",
  summary: {
    consent: {
      executed: "The operation was executed once, after the person had confirmed it in writing.",
      failed: "The operation was authorised, but not executed.",
      unknown: "The operation was authorised and attempted; how it ended is not known.",
      parked:
        "The person confirmed the operation in writing, and a reviewer has to approve it as well: it was not executed under this proposal, but waits under that approval.",
      none: "The operation was not executed.",
    },
    approval: {
      executed: "The operation was executed once, after a reviewer had approved it.",
      failed: "A reviewer approved the operation, but it was not executed.",
      unknown: "A reviewer approved the operation, and it was attempted; how it ended is not known.",
      granted: "A reviewer approved the operation; there is no record that it has begun.",
      discarded: "The operation was not executed: a reviewer rejected it.",
      expired: "The operation was not executed: no reviewer had approved it when the request lapsed.",
      waiting: "The operation was not executed: it waits for a reviewer to decide.",
    },
    app: {
      granted:
        "Whoever asked was told yes: a reviewer approved it. This system does not know whether the operation was executed: whoever asked executes it.",
      discarded: "Whoever asked was told no: a reviewer rejected it. This system does not execute the operation.",
      expired:
        "Whoever asked was not told yes: no reviewer had decided when the request lapsed or was taken back. This system does not execute the operation.",
      waiting: "No reviewer has decided yet: whoever asked was told nothing.",
    },
    erased: "The person's data was erased; the steps remain, without their content.",
  },
  proposal: "Proposed operation",
  person: "Person (channel : account : chat : sender)",
  session: "Session (as whoever asked named it)",
  agent: "Agent",
  call: "Operation",
  arguments: "Exact arguments",
  noArguments: "No arguments.",
  notice: "Exact text of the notice that was shown",
  noticeNote:
    "Worded by the system, never by the model, at the end of the message. Without this notice, delivered, no confirmation is accepted.",
  shows: "Exact text that the reviewer saw",
  showsNote:
    "Worded by the system from the exact arguments, never by the model. An approval is good for this operation, with these arguments.",
  awaited: {
    title: "The approval that it waits for",
    approval: "Approval",
    outcome: "What became of it",
    page: "Its own page",
    none: "There is no record that it was asked for: nothing was executed under that approval.",
  },
  story: "What happened, in order",
  when: "When (UTC)",
  what: "What",
  details: "Details",
  timesNote: "Times are of the system's clock, but for those that say they are the platform's.",
  proof: "How to check it",
  proofNote:
    "Every entry carries the hash of the one before it, and every block the installation's signature. The JSONL file of this operation is verified offline, with the public key alone:",
  whole: "When this record was made, hashes and signatures were verified: nothing was altered, dropped or reordered.",
  broken: "WARNING: when this record was made, verification found alterations:",
  installation: "Installation",
  chain: "Chain and entries",
  block: "Signed block",
  signature: "Signature (Ed25519)",
  key: "Public key (SHA-256)",
  made: "Made at",
  steps: {
    proposed: "The agent proposed the operation; it was not executed.",
    notice_sent: "The notice was sent to the person.",
    notice_delivered: "The notice arrived.",
    notice_failed: "The notice did not arrive, or nobody knows.",
    granted: "The person typed a confirmation.",
    discarded: "The proposal was dropped.",
    unseen: "The person typed a confirmation that did not count.",
    expired: "The proposal lapsed.",
    withdrawn: "The proposal was withdrawn.",
    consumed: "The confirmation was used up: the operation began. It cannot be used again.",
    executed: "The operation was executed.",
    failed: "The operation was not executed.",
    parked: "A rule asks for a reviewer's approval as well: the operation was not executed, and waits for it.",
    unknown: "Nobody knows whether the operation was executed. It was not repeated.",
    delivery: "Message with the notice",
    delivery_without: "Message that went out without the notice",
    approval_proposed: "A reviewer's approval was asked for.",
    approval_granted: "A reviewer approved it.",
    approval_discarded: "A reviewer rejected it.",
    approval_expired: "The request lapsed, or was taken back, before a reviewer had decided.",
    approval_consumed: "The approval was used up: the operation began. It cannot be used again.",
  },
  delivery: {
    queued: "queued",
    sending: "being handed to the platform",
    accepted: "accepted by the platform",
    delivered: "delivered",
    read: "read",
    failed: "not delivered",
    unknown: "not known",
  },
  reasons: {
    other_words: "something else was typed",
    not_typed: "it was no text that the person typed",
    quotes_other: "it quoted another message",
    shown_too_often: "the notice had been repeated before",
    retracted: "the person deleted or changed the message",
    rejected: "the reviewer rejected it",
    not_sent: "the notice had not been sent",
    not_delivered: "the notice was not known to have arrived",
    too_early: "it was typed before the notice",
    buried: "another message had been sent after the notice",
    unused_grant: "the confirmation was not used in its turn",
    run_failed: "the turn failed before it was shown",
    run_repeated: "the turn was repeated before it was shown",
    run_interrupted: "the process was interrupted",
    turn_ended: "the turn ended without a result",
    turn_given_up: "the turn was given up",
    nobody_decided: "nobody decided",
    withdrawn: "whoever asked took it back",
  },
  labels: {
    words: "Typed text",
    message: "Message id",
    quoted: "Quoting the notice",
    sentAt: "Sent (the platform's clock)",
    deliveredAt: "Delivered (the platform's clock)",
    platformAt: "The platform's clock",
    receivedAt: "Received",
    expiresAt: "Lapses",
    part: "Message",
    ref: "The platform's id",
    level: "Level",
    state: "State",
    reason: "Reason",
    code: "Code",
    result: "Result",
    by: "By",
    comment: "Comment",
    verdict: "What the operator said",
    late: "Known later",
    again: "Shown again",
    grant: "Confirmed by message",
    confirmed: "Confirmed by the person in proposal",
    told: "How the person was told of the operation",
    awaits: "Approval that it waits for",
  },
};

export const reportWordings = { es, en } as const;
export type ReportLanguage = keyof typeof reportWordings;
