/** The words of a report. `{name}` stands for a detail of the entry. */
export interface ReportWording {
  readonly language: string;
  readonly title: string;
  readonly summary: {
    readonly executed: string;
    /** Where a reviewer decided. */
    readonly executedApproved: string;
    readonly failed: string;
    readonly unknown: string;
    readonly none: string;
    readonly erased: string;
  };
  readonly proposal: string;
  readonly person: string;
  readonly agent: string;
  readonly call: string;
  readonly arguments: string;
  readonly noArguments: string;
  readonly notice: string;
  readonly noticeNote: string;
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
  summary: {
    executed: "La operación se ejecutó una vez, después de que la persona la confirmara por escrito.",
    executedApproved: "La operación se ejecutó una vez, después de que un revisor la aprobara.",
    failed: "La operación se autorizó, pero no se ejecutó.",
    unknown: "La operación se autorizó y se intentó; no consta cómo terminó.",
    none: "La operación no se ejecutó.",
    erased: "Los datos de la persona fueron borrados; quedan los pasos, sin contenido.",
  },
  proposal: "Operación propuesta",
  person: "Persona (canal : cuenta : chat : remitente)",
  agent: "Agente",
  call: "Operación",
  arguments: "Argumentos exactos",
  noArguments: "Sin argumentos.",
  notice: "Texto exacto del aviso que se mostró",
  noticeNote:
    "Lo redacta el sistema, nunca el modelo, y termina el mensaje. Sin este aviso, entregado, no se acepta ninguna confirmación.",
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
    unknown: "No se sabe si la operación se ejecutó. No se repitió.",
    delivery: "Mensaje con el aviso",
    delivery_without: "Mensaje que salió sin el aviso",
    approval_proposed: "Se pidió la aprobación de un revisor.",
    approval_granted: "Un revisor la aprobó.",
    approval_discarded: "Un revisor la rechazó.",
    approval_expired: "Ningún revisor decidió a tiempo.",
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
  },
};

const en: ReportWording = {
  language: "en",
  title: "Record of consent",
  summary: {
    executed: "The operation was executed once, after the person had confirmed it in writing.",
    executedApproved: "The operation was executed once, after a reviewer had approved it.",
    failed: "The operation was authorised, but not executed.",
    unknown: "The operation was authorised and attempted; how it ended is not known.",
    none: "The operation was not executed.",
    erased: "The person's data was erased; the steps remain, without their content.",
  },
  proposal: "Proposed operation",
  person: "Person (channel : account : chat : sender)",
  agent: "Agent",
  call: "Operation",
  arguments: "Exact arguments",
  noArguments: "No arguments.",
  notice: "Exact text of the notice that was shown",
  noticeNote:
    "Worded by the system, never by the model, at the end of the message. Without this notice, delivered, no confirmation is accepted.",
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
    unknown: "Nobody knows whether the operation was executed. It was not repeated.",
    delivery: "Message with the notice",
    delivery_without: "Message that went out without the notice",
    approval_proposed: "A reviewer's approval was asked for.",
    approval_granted: "A reviewer approved it.",
    approval_discarded: "A reviewer rejected it.",
    approval_expired: "No reviewer decided in time.",
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
  },
};

export const reportWordings = { es, en } as const;
export type ReportLanguage = keyof typeof reportWordings;
