export const exportTexts = {
  'pt-BR': {
    download: 'Baixar CSV:',
    formats: { br: 'Excel em português (1234,56)', intl: 'Internacional (1234.56)' },
  },
  en: {
    download: 'Download CSV:',
    formats: { br: 'Brazilian Excel (1234,56)', intl: 'International (1234.56)' },
  },
};
