export const simulatedEventTexts = {
  'pt-BR': {
    title: 'Simular: evento',
    eventType: 'Tipo de evento',
    choose: 'Ver exemplo',
    objectId: 'ID do objeto',
    objectIdHint: 'Eventos do mesmo objeto são numerados em sequência.',
    example: 'Dados de exemplo',
    publish: 'Publicar',
  },
  en: {
    title: 'Simulate: event',
    eventType: 'Event type',
    choose: 'See example',
    objectId: 'Object ID',
    objectIdHint: 'Events of the same object are numbered in sequence.',
    example: 'Example data',
    publish: 'Publish',
  },
};
