import { formatMoney } from './mail-format.ts';
import type { Addressee } from './mail-links.ts';
import type { Outcome, OutcomeSubject } from './outcome-notice.ts';

/** The event, in the subject and in the first sentence, and its consequence for the merchant. */
interface OutcomeTexts {
  readonly subject: string;
  readonly happened: string;
  readonly means: string;
}

interface Facts {
  readonly merchant: string;
  /** Empty if it is not known. */
  readonly amount: string;
  readonly link: string;
}

const portuguese: Readonly<Record<Outcome, OutcomeTexts>> = {
  REFUND_UNFUNDED: {
    subject: 'Reembolso aguarda saldo',
    happened: 'O saldo disponível da sua empresa não cobre um reembolso, e o cliente aguarda o valor.',
    means: 'O reembolso será executado assim que houver saldo.',
  },
  REFUND_FAILED: {
    subject: 'Reembolso com falha',
    happened: 'Um reembolso falhou no provedor de pagamentos, e o cliente não recebeu o valor.',
    means: 'O valor volta ao seu saldo. Não tentamos de novo: o reembolso precisa ser solicitado outra vez.',
  },
  REFUND_APPROVED: {
    subject: 'Reembolso contestado foi aprovado',
    happened: 'Analisamos um reembolso que sua empresa contestou e o aprovamos.',
    means: 'O valor é debitado do seu saldo e devolvido ao cliente.',
  },
  REFUND_REJECTED: {
    subject: 'Reembolso recusado',
    happened: 'Analisamos um reembolso e o recusamos.',
    means: 'O reembolso não será pago ao cliente, e nada será debitado do seu saldo por ele.',
  },
  REFUND_CANCELED: {
    subject: 'Reembolso contestado foi cancelado',
    happened: 'Um reembolso que sua empresa contestou foi cancelado.',
    means: 'O reembolso não será pago ao cliente, e nada será debitado do seu saldo por ele.',
  },
  REFUND_WITHDRAWN: {
    subject: 'Reembolso aprovado foi cancelado',
    happened: 'Um reembolso aprovado, que ainda aguardava a execução, foi cancelado.',
    means: 'O reembolso não será pago ao cliente, e nada será debitado do seu saldo por ele.',
  },
  REFUNDS_UNVERIFIED: {
    subject: 'Reembolsos aguardam a verificação cadastral',
    happened:
      'A verificação cadastral da sua empresa não está aprovada, e por isso não executamos reembolsos já aprovados. Os clientes aguardam os valores.',
    means:
      'Os reembolsos são executados quando a verificação é aprovada. Envie os documentos que pedimos, ou pergunte-nos o que falta.',
  },
  REFUNDS_INACTIVE: {
    subject: 'Reembolsos parados: conta inativa',
    happened:
      'A conta da sua empresa não está ativa, e por isso não executamos reembolsos já aprovados. Os clientes aguardam os valores.',
    means: 'Os reembolsos são executados quando a conta é ativada. Fale conosco.',
  },
  DISPUTE_WON: {
    subject: 'Disputa ganha',
    happened: 'O banco decidiu uma disputa a favor da sua empresa.',
    means: 'Nada é descontado, e o que a disputa bloqueava volta aos seus recebíveis.',
  },
  DISPUTE_LOST: {
    subject: 'Disputa perdida',
    happened: 'O banco decidiu uma disputa a favor do cliente.',
    means:
      'O valor é descontado dos seus recebíveis, menos o que o cliente já recebeu por reembolsos e outras disputas.',
  },
  DISPUTE_LOST_REST: {
    subject: 'Disputa perdida',
    happened: 'O banco decidiu uma disputa a favor do cliente.',
    means: 'O que resta do pagamento é descontado dos seus recebíveis.',
  },
  DISPUTE_REVERSED: {
    subject: 'Disputa revertida a seu favor',
    happened: 'Uma disputa que sua empresa havia perdido foi revertida a seu favor.',
    means: 'O que foi descontado por ela volta aos seus recebíveis.',
  },
  ADVANCE_REFUSED: {
    subject: 'Antecipação recusada',
    happened: 'A antecipação que sua empresa solicitou foi recusada.',
    means: 'As parcelas serão liberadas nas datas previstas.',
  },
  PAYOUT_RETURNED: {
    subject: 'Pagamento da antecipação devolvido',
    happened: 'O banco devolveu o pagamento de uma antecipação, e sua empresa não recebeu o valor.',
    means: 'Vamos pagar de novo. Se a sua conta mudou, fale conosco.',
  },
  PAYOUT_DELAYED: {
    subject: 'Pagamento da antecipação atrasado',
    happened: 'O provedor de pagamentos ainda não aceitou o pagamento de uma antecipação.',
    means: 'Continuamos tentando. Se a sua conta mudou, fale conosco.',
  },
  FUNDS_HELD: {
    subject: 'Valores retidos até a verificação cadastral',
    happened:
      'A verificação cadastral da sua empresa ainda não terminou, e por isso retemos valores das suas vendas.',
    means:
      'Eles são liberados quando a verificação termina. Envie os documentos que pedimos, ou pergunte-nos o que falta.',
  },
};

const english: Readonly<Record<Outcome, OutcomeTexts>> = {
  REFUND_UNFUNDED: {
    subject: 'Refund awaits your balance',
    happened: 'Your available balance does not cover a refund, and the customer is waiting for it.',
    means: 'The refund is executed once the balance covers it.',
  },
  REFUND_FAILED: {
    subject: 'Refund failed',
    happened: 'A refund failed at the payment provider, and the customer has not received the amount.',
    means: 'It goes back to your balance. We do not try again: the refund has to be requested again.',
  },
  REFUND_APPROVED: {
    subject: 'Contested refund approved',
    happened: 'We reviewed a refund that you contested, and approved it.',
    means: 'The amount is debited from your balance and returned to the customer.',
  },
  REFUND_REJECTED: {
    subject: 'Refund rejected',
    happened: 'We reviewed a refund, and rejected it.',
    means:
      'The refund will not be paid to the customer, and nothing will be debited from your balance for it.',
  },
  REFUND_CANCELED: {
    subject: 'Contested refund canceled',
    happened: 'A refund that you contested was canceled.',
    means:
      'The refund will not be paid to the customer, and nothing will be debited from your balance for it.',
  },
  REFUND_WITHDRAWN: {
    subject: 'Approved refund canceled',
    happened: 'An approved refund that was still waiting to be executed was canceled.',
    means:
      'The refund will not be paid to the customer, and nothing will be debited from your balance for it.',
  },
  REFUNDS_UNVERIFIED: {
    subject: 'Refunds await your verification',
    happened:
      'Your business is not verified, so we do not execute refunds that are already approved. The customers are waiting for them.',
    means:
      'The refunds are executed once the verification is approved. Send us the documents that we asked for, or ask us what is missing.',
  },
  REFUNDS_INACTIVE: {
    subject: 'Refunds blocked: account not active',
    happened:
      'Your account is not active, so we do not execute refunds that are already approved. The customers are waiting for them.',
    means: 'The refunds are executed once the account is active. Contact us.',
  },
  DISPUTE_WON: {
    subject: 'Dispute won',
    happened: 'The bank decided a dispute in your favor.',
    means: 'Nothing is deducted, and what the dispute blocked goes back to your receivables.',
  },
  DISPUTE_LOST: {
    subject: 'Dispute lost',
    happened: "The bank decided a dispute in the customer's favor.",
    means:
      'The amount is deducted from your receivables, less what the customer already has from refunds and other disputes.',
  },
  DISPUTE_LOST_REST: {
    subject: 'Dispute lost',
    happened: "The bank decided a dispute in the customer's favor.",
    means: 'What is left of the payment is deducted from your receivables.',
  },
  DISPUTE_REVERSED: {
    subject: 'Dispute reversed in your favor',
    happened: 'A dispute that you had lost was reversed in your favor.',
    means: 'What was deducted for it goes back to your receivables.',
  },
  ADVANCE_REFUSED: {
    subject: 'Advance refused',
    happened: 'The advance that you requested was refused.',
    means: 'The installments will be released on their scheduled dates.',
  },
  PAYOUT_RETURNED: {
    subject: 'Advance payout returned',
    happened: 'The bank returned the payout of an advance, and you have not received the amount.',
    means: 'We will pay it again. If your account has changed, tell us.',
  },
  PAYOUT_DELAYED: {
    subject: 'Advance payout delayed',
    happened: 'The payment provider has not accepted the payout of an advance yet.',
    means: 'We keep trying. If your account has changed, tell us.',
  },
  FUNDS_HELD: {
    subject: 'Funds held until you are verified',
    happened: 'Your business is not fully verified yet, so we hold funds from your sales.',
    means:
      'They are released once the verification is complete. Send us the documents that we asked for, or ask us what is missing.',
  },
};

const texts = {
  'pt-BR': {
    outcomes: portuguese,
    text: ({ happened, means }: OutcomeTexts, { merchant, amount, link }: Facts) => `${happened}

Empresa: ${merchant}
${amount && `Valor: ${amount}\n`}
${means} Os detalhes estão no painel:
   ${link}
`,
  },
  en: {
    outcomes: english,
    text: ({ happened, means }: OutcomeTexts, { merchant, amount, link }: Facts) => `${happened}

Merchant: ${merchant}
${amount && `Amount: ${amount}\n`}
${means} The details are in the dashboard:
   ${link}
`,
  },
};

/** A mail about the outcome of a refund, a dispute, an advance, or the merchant's refunds or funds. */
export function outcomeMail(
  { outcome, amountMinor, path }: OutcomeSubject,
  { language, merchant, merchantUrl }: Addressee,
) {
  const { outcomes, text } = texts[language];
  const facts = {
    merchant,
    amount: amountMinor === undefined ? '' : formatMoney(language, amountMinor),
    link: `${merchantUrl}/${path}`,
  };
  return { subject: `${outcomes[outcome].subject}: ${merchant}`, text: text(outcomes[outcome], facts) };
}
