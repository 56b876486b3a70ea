export const troubleTexts = {
  'pt-BR': {
    title: (count: number) =>
      count === 1 ? 'Um webhook precisa de atenção' : `${count} webhooks precisam de atenção`,
    more: (count: number) => (count === 1 ? 'e mais um' : `e mais ${count}`),
  },
  en: {
    title: (count: number) =>
      count === 1 ? 'A webhook needs attention' : `${count} webhooks need attention`,
    more: (count: number) => (count === 1 ? 'and one more' : `and ${count} more`),
  },
};
