export const subscriptionStateTexts = {
  'pt-BR': {
    states: {
      pending: 'Pendente',
      active: 'Ativo',
      error: 'Com falhas',
      disabled: 'Desativado',
      deleted: 'Excluído',
      paused: 'Pausado',
      unknown: 'Desconhecido',
    },
    meanings: {
      pending:
        'Nenhuma entrega foi aceita ainda. Os eventos já são enviados, e a primeira resposta 2xx ativa o endpoint.',
      active: 'As entregas estão sendo aceitas.',
      failing: 'Seu servidor não está aceitando as entregas. Elas são tentadas novamente.',
      error: 'As entregas continuam. A próxima resposta 2xx reativa o endpoint.',
      disabled: 'Nenhum evento é enviado.',
      deleted:
        'Nenhum evento é enviado, e o endpoint não pode ser reativado. Suas entregas continuam visíveis.',
      paused:
        'Nossa equipe de operações pausou as entregas. Nada se perde: elas continuam quando a pausa terminar.',
      unknown: '',
    },
    exhausted: (attempts: string, last: string) =>
      `Uma entrega falhou em todas as ${attempts} tentativas. Última resposta: ${last}.`,
    gone: 'O servidor respondeu HTTP 410, pedindo para não receber mais eventos. Por isso, o endpoint foi desativado.',
    expired: (days: string) =>
      `Uma entrega continuava pendente ${days} dias depois do evento e não será mais tentada.`,
    unknownError: 'Não foi possível entregar os eventos.',
    delivered: (delivered: string, attempts: string) =>
      `${delivered} de ${attempts} tentativas bem-sucedidas na última hora`,
    failingSince: 'Com falhas desde',
    noAttempts: 'nenhuma tentativa na última hora',
    successRate: 'Taxa de sucesso',
    lastSuccess: 'Última entrega',
    p95: 'Tempo de resposta',
    within: (ms: string) => `95% em até ${ms} ms`,
    since: 'Desde',
  },
  en: {
    states: {
      pending: 'Pending',
      active: 'Active',
      error: 'Failing',
      disabled: 'Disabled',
      deleted: 'Deleted',
      paused: 'Paused',
      unknown: 'Unknown',
    },
    meanings: {
      pending:
        'No delivery has been accepted yet. Events are already being sent, and the first 2xx response activates the endpoint.',
      active: 'Deliveries are being accepted.',
      failing: 'Your server is not accepting deliveries. They are being retried.',
      error: 'Deliveries continue. The next 2xx response makes the endpoint active again.',
      disabled: 'No events are sent.',
      deleted: 'No events are sent, and the endpoint cannot be reactivated. Its deliveries stay visible.',
      paused:
        'Our operations team has paused deliveries. Nothing is lost: they continue when the pause ends.',
      unknown: '',
    },
    exhausted: (attempts: string, last: string) =>
      `A delivery failed in all of its ${attempts} attempts. Last response: ${last}.`,
    gone: 'The server responded with HTTP 410, asking not to receive any more events, so the endpoint was disabled.',
    expired: (days: string) =>
      `A delivery was still pending ${days} days after its event and will not be attempted again.`,
    unknownError: 'Events could not be delivered.',
    delivered: (delivered: string, attempts: string) =>
      `${delivered} of ${attempts} attempts delivered in the last hour`,
    failingSince: 'Failing since',
    noAttempts: 'no attempts in the last hour',
    successRate: 'Success rate',
    lastSuccess: 'Last delivery',
    p95: 'Response time',
    within: (ms: string) => `95% within ${ms} ms`,
    since: 'Since',
  },
};
