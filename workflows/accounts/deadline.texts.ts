import type { Language } from './mail-format.ts';

/** A refund case in a mail. */
export interface DueRefund {
  readonly amount: string;
  readonly deadline: string;
  readonly link: string;
}

/** The values in a mail about refund cases. */
export interface DueRefundsFacts {
  readonly merchant: string;
  /** The earliest deadlines. */
  readonly listed: readonly DueRefund[];
  /** How many there are, listed or not. */
  readonly count: number;
  readonly link: string;
}

/** The values in a mail about a dispute. */
export interface DueDisputeFacts {
  readonly merchant: string;
  /** Empty when the dispute is for the rest of the sale. */
  readonly amount: string;
  /** Empty when the due date is not known. */
  readonly due: string;
  readonly link: string;
}

interface Texts {
  readonly refundsSubject: (count: number, merchant: string) => string;
  readonly refunds: (facts: DueRefundsFacts) => string;
  readonly disputeSubject: (merchant: string) => string;
  readonly dispute: (facts: DueDisputeFacts) => string;
}

/** Instead of what happens at the due date of a dispute. */
const DUE_UNKNOWN = {
  'pt-BR':
    'Não sabemos o prazo do banco. Responda o quanto antes: ele pode decidir a qualquer momento, mesmo sem uma resposta.',
  en: "We don't know the bank's deadline. Respond as soon as you can: it may decide at any time, even without a response.",
};

export const deadlineTexts: Readonly<Record<Language, Texts>> = {
  'pt-BR': {
    refundsSubject: (count, merchant) =>
      count === 1
        ? `Um reembolso vence em breve: ${merchant}`
        : `${count} reembolsos vencem em breve: ${merchant}`,
    refunds: ({
      merchant,
      listed,
      count,
      link,
    }) => `${count === 1 ? 'Este reembolso aguarda' : 'Estes reembolsos aguardam'} a decisão da sua empresa, e o prazo está acabando.

Empresa: ${merchant}

${listed.map((one) => `${one.amount}, decida até ${one.deadline}\n   ${one.link}`).join('\n')}
${count > listed.length ? `\ne mais ${count - listed.length}:\n   ${link}\n` : ''}
Sem uma decisão até o prazo, nós analisamos o caso.
`,
    disputeSubject: (merchant) => `Uma disputa aguarda sua resposta: ${merchant}`,
    dispute: ({
      merchant,
      amount,
      due,
      link,
    }) => `Uma disputa aguarda a resposta da sua empresa${due && ', e o prazo está acabando'}.

Empresa: ${merchant}
${amount && `Valor: ${amount}\n`}${due && `Responda até: ${due}\n`}
Envie os arquivos e a resposta no painel:
   ${link}

${due ? 'Sem uma resposta até o prazo, o banco decide sem ela.' : DUE_UNKNOWN['pt-BR']}
`,
  },
  en: {
    refundsSubject: (count, merchant) =>
      count === 1 ? `A refund is due soon: ${merchant}` : `${count} refunds are due soon: ${merchant}`,
    refunds: ({
      merchant,
      listed,
      count,
      link,
    }) => `${count === 1 ? 'This refund awaits' : 'These refunds await'} your decision, and the deadline is near.

Merchant: ${merchant}

${listed.map((one) => `${one.amount}, decide by ${one.deadline}\n   ${one.link}`).join('\n')}
${count > listed.length ? `\nand ${count - listed.length} more:\n   ${link}\n` : ''}
Without a decision by the deadline, we review the case.
`,
    disputeSubject: (merchant) => `A dispute awaits your response: ${merchant}`,
    dispute: ({
      merchant,
      amount,
      due,
      link,
    }) => `A dispute awaits your response${due && ', and the deadline is near'}.

Merchant: ${merchant}
${amount && `Amount: ${amount}\n`}${due && `Respond by: ${due}\n`}
Attach files and send the response in the dashboard:
   ${link}

${due ? 'Without a response by then, the bank decides without it.' : DUE_UNKNOWN.en}
`,
  },
};
