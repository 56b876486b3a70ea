export const paymentTexts = {
  'pt-BR': {
    title: 'Quanto ainda pode ser reembolsado',
    payment: 'Pagamento',
    paid: 'Pago pelo cliente',
    refunded: 'Reembolsado',
    inProgress: 'Em reembolsos abertos',
    lost: 'Perdido em disputas',
    refundable: 'Ainda pode ser reembolsado',
    disputed: 'O pagamento está em disputa: um novo reembolso esperaria o resultado.',
    windowOver: 'O prazo de reembolso terminou.',
  },
  en: {
    title: 'What can still be refunded',
    payment: 'Payment',
    paid: 'Paid by the customer',
    refunded: 'Refunded',
    inProgress: 'In open refund cases',
    lost: 'Lost in disputes',
    refundable: 'Can still be refunded',
    disputed: 'The payment is disputed: a new refund would wait for the outcome.',
    windowOver: 'The refund window has ended.',
  },
};
