export const eventTableTexts = {
  'pt-BR': {
    hint: 'Do mais recente ao mais antigo.',
    none: 'Nenhum evento disponível.',
    event: 'Evento',
    published: 'Publicado em',
    deliveries: 'Entregas',
    seeDeliveries: 'ver entregas',
  },
  en: {
    hint: 'Newest first.',
    none: 'No events available.',
    event: 'Event',
    published: 'Published',
    deliveries: 'Deliveries',
    seeDeliveries: 'view deliveries',
  },
};
