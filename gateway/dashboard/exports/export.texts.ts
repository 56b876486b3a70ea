export const exportTexts = {
  'pt-BR': {
    download: 'Baixar CSV:',
    formats: { br: 'Excel em português (1234,56)', intl: 'Internacional (1234.56)' },
    tooMany: 'Outros arquivos ainda estão sendo baixados. Aguarde um deles terminar e tente novamente.',
  },
  en: {
    download: 'Download CSV:',
    formats: { br: 'Brazilian Excel (1234,56)', intl: 'International (1234.56)' },
    tooMany: 'Other files are still being downloaded. Wait until one of them is complete, then try again.',
  },
};
