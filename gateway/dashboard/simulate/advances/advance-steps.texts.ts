export const advanceStepTexts = {
  'pt-BR': {
    title: 'Simular: antecipação',
    steps: {
      approve: ['A análise aprova', 'O pedido espera o pagamento.'],
      release: ['Pagar a antecipação', 'O lojista recebe o valor, menos o custo.'],
      refuse: ['Recusar', 'As parcelas ficam livres.'],
      settle: ['Quitar', 'Só depois da última data antecipada.'],
    } satisfies Record<string, readonly [string, string]>,
    amount: 'Valor antecipado',
    fee: 'Custo',
    net: 'Você recebe',
    reason: 'Motivo',
    reasonInitial: 'Fora da política de risco',
    reasonMissing: 'Diga o motivo.',
    possible: 'O que pode acontecer agora',
    nothing: 'Nada mais pode acontecer a este pedido.',
    settlesLater:
      'Este pedido é quitado sozinho depois da última data antecipada. Para ver isso agora, crie uma antecipação no passado.',
    open: 'Abrir na página de antecipações',
    done: 'feito.',
  },
  en: {
    title: 'Simulate: advance',
    steps: {
      approve: ['The review approves', 'The request waits for its payout.'],
      release: ['Pay the advance out', 'The merchant receives the amount, less the cost.'],
      refuse: ['Refuse', 'The instalments are free again.'],
      settle: ['Settle', 'Only after the last advanced date.'],
    } satisfies Record<string, readonly [string, string]>,
    amount: 'Amount advanced',
    fee: 'Cost',
    net: 'You receive',
    reason: 'Reason',
    reasonInitial: 'Outside the risk policy',
    reasonMissing: 'Say the reason.',
    possible: 'What can happen now',
    nothing: 'Nothing more can happen to this request.',
    settlesLater:
      'This request settles by itself after its last advanced date. To see that now, make an advance in the past.',
    open: 'Open on the page of advances',
    done: 'done.',
  },
};
