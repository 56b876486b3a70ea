export const advanceStepTexts = {
  'pt-BR': {
    title: 'Simular: antecipação',
    steps: {
      approve: ['A análise aprova', 'A solicitação aguarda o pagamento.'],
      release: ['Liberar o pagamento', 'Inicia o pagamento do valor, menos o custo.'],
      refuse: ['Recusar', 'As parcelas deixam de estar reservadas.'],
      settle: ['Quitar', 'Possível somente depois da última data antecipada.'],
    } satisfies Record<string, readonly [string, string]>,
    reasonInitial: 'Fora da política de risco',
    nothing: 'Esta solicitação está encerrada. Não há próximos passos.',
    settlesLater:
      'A quitação é automática depois da última data antecipada. Para vê-la agora, crie uma antecipação com data passada.',
    open: 'Abrir na página de antecipações',
  },
  en: {
    title: 'Simulate: advance',
    steps: {
      approve: ['The review approves', 'The request awaits its payout.'],
      release: ['Release for payout', 'Starts the payout of the amount, less the cost.'],
      refuse: ['Refuse', 'The installments are no longer reserved.'],
      settle: ['Settle', 'Possible only after the last advanced date.'],
    } satisfies Record<string, readonly [string, string]>,
    reasonInitial: 'Outside the risk policy',
    nothing: 'This request is closed. There are no further steps.',
    settlesLater:
      'Settlement is automatic after the last advanced date. To see it now, create an advance dated in the past.',
    open: 'Open on the advances page',
  },
};
