export const subscriptionStateTexts = {
  'pt-BR': {
    states: {
      pending: 'Pendente',
      active: 'Ativo',
      error: 'Com erro',
      disabled: 'Desativado',
      paused: 'Pausado',
      unknown: 'Desconhecido',
    },
    meanings: {
      pending:
        'Nenhuma entrega foi aceita ainda. Os eventos já são enviados; a primeira resposta 2xx o torna ativo.',
      active: 'As entregas chegam.',
      error: 'As entregas continuam; a próxima resposta 2xx o torna ativo de novo.',
      disabled: 'Nada é enviado.',
      paused:
        'A operação segura as entregas por enquanto. Nada se perde: elas seguem quando a pausa terminar.',
      unknown: '',
    },
    exhausted: (attempts: string, last: string) =>
      `Uma entrega falhou em todas as ${attempts} tentativas. A última resposta: ${last}.`,
    gone: 'O servidor respondeu com HTTP 410: ele não quer mais receber eventos. O webhook foi desativado.',
    expired: (days: string) =>
      `Uma entrega continuava pendente ${days} dias depois do evento e não será mais tentada.`,
    unknownError: 'Não foi possível entregar os eventos.',
    since: 'Desde',
  },
  en: {
    states: {
      pending: 'Pending',
      active: 'Active',
      error: 'Failing',
      disabled: 'Disabled',
      paused: 'Paused',
      unknown: 'Unknown',
    },
    meanings: {
      pending: 'No delivery has been accepted yet. Events are sent already; the first 2xx makes it active.',
      active: 'Deliveries arrive.',
      error: 'Deliveries go on; the next 2xx makes it active again.',
      disabled: 'Nothing is sent.',
      paused: 'Operations hold the deliveries back for now. Nothing is lost: they go on when the pause ends.',
      unknown: '',
    },
    exhausted: (attempts: string, last: string) =>
      `A delivery failed in each of its ${attempts} attempts. The last answer: ${last}.`,
    gone: 'The server answered HTTP 410, which means that it wants no more events. The webhook was disabled.',
    expired: (days: string) =>
      `A delivery was still pending ${days} days after its event and is no longer attempted.`,
    unknownError: 'Events could not be delivered.',
    since: 'Since',
  },
};
