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
    gone: 'O servidor respondeu HTTP 410, que pede para não receber mais nada; por isso foi desativado.',
    givenUp: (days: string) =>
      `Desistimos de uma entrega que continuava aberta ${days} dias depois do evento.`,
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
    gone: 'The server answered HTTP 410, which asks to be sent nothing more; so it was disabled.',
    givenUp: (days: string) => `We gave up a delivery that was still open ${days} days after its event.`,
    since: 'Since',
  },
};
