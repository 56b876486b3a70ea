/** The texts of the preview of a resend; numbers come formatted. */
export const resendPreviewTexts = {
  'pt-BR': {
    title: 'Prévia do reenvio',
    confirmTitle: 'Confirmar reenvio',
    counts: {
      failed: 'Falharam',
      neverSent: 'Nunca enviados a este endpoint',
      delivered: 'Já entregues',
      open: 'Em entrega',
    },
    hints: {
      failed: 'ou foram cancelados, sem nenhuma entrega',
      older: (count: string) => `${count} anteriores ao endpoint`,
    },
    hasMore:
      'A seleção tem mais de 10.000 eventos. Os números são dos 10.000 mais antigos; o reenvio inclui todos.',
    which: 'O que reenviar',
    options: {
      failed: (events: string) => `Somente os que falharam: ${events}`,
      undelivered: (events: string) => `Também os que nunca foram enviados: ${events}`,
      all: (events: string) => `Todos, mesmo os já entregues ou em entrega: ${events}`,
    },
    events: (count: string, isOne: boolean) => `${count} ${isOne ? 'evento' : 'eventos'}`,
    atLeast: (events: string) => `pelo menos ${events}`,
    next: 'Continuar',
    back: 'Mudar a seleção',
    nothing:
      'Nenhum evento a reenviar nesta seleção. Um endpoint recebe apenas os tipos em que está inscrito.',
    confirm: (events: string, endpoint: string) => `Reenviar ${events} para ${endpoint}?`,
    confirmHints: {
      failed: 'Nenhuma entrega foi aceita até agora.',
      undelivered:
        'Nenhuma entrega foi aceita até agora, e há eventos que nunca foram enviados a este endpoint.',
      all: 'Seu servidor receberá de novo eventos que já aceitou, com o mesmo webhook-id.',
    },
    submit: (events: string) => `Reenviar ${events}`,
    change: 'Escolher outros eventos',
  },
  en: {
    title: 'Resend preview',
    confirmTitle: 'Confirm resend',
    counts: {
      failed: 'Failed',
      neverSent: 'Never sent to this endpoint',
      delivered: 'Already delivered',
      open: 'Being delivered',
    },
    hints: {
      failed: 'or canceled, and never delivered',
      older: (count: string) => `${count} older than the endpoint`,
    },
    hasMore:
      'The selection has more than 10,000 events. The counts are for the oldest 10,000; the resend includes all of them.',
    which: 'What to resend',
    options: {
      failed: (events: string) => `Only those that failed: ${events}`,
      undelivered: (events: string) => `Also those that were never sent: ${events}`,
      all: (events: string) => `All, even those delivered or being delivered: ${events}`,
    },
    events: (count: string, isOne: boolean) => `${count} ${isOne ? 'event' : 'events'}`,
    atLeast: (events: string) => `at least ${events}`,
    next: 'Continue',
    back: 'Change the selection',
    nothing:
      'There is no event to resend in this selection. An endpoint receives only the types it is subscribed to.',
    confirm: (events: string, endpoint: string) => `Resend ${events} to ${endpoint}?`,
    confirmHints: {
      failed: 'No delivery has been accepted so far.',
      undelivered: 'No delivery has been accepted so far, and some events were never sent to this endpoint.',
      all: 'Your server will receive events that it has already accepted again, with the same webhook-id.',
    },
    submit: (events: string) => `Resend ${events}`,
    change: 'Choose other events',
  },
};
