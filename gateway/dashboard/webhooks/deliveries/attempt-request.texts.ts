export const attemptRequestTexts = {
  'pt-BR': {
    request: 'Requisição e cabeçalhos da resposta',
    urlChanged: 'A URL do endpoint mudou desde esta tentativa, e a URL anterior não é armazenada.',
    responseHeaders: 'Cabeçalhos da resposta, sem valores que possam ser segredos:',
    curl: 'Repetir com curl:',
    curlHint:
      'A assinatura é do horário da tentativa: bibliotecas que verificam o webhook-timestamp a recusam depois de 5 minutos.',
    dns: 'DNS',
    connect: 'conexão',
    tls: 'TLS',
    firstByte: 'até a resposta',
    total: 'total',
    reused: 'conexão já aberta',
  },
  en: {
    request: 'Request and response headers',
    urlChanged: 'The URL of the endpoint has changed since this attempt, and the previous URL is not stored.',
    responseHeaders: 'Response headers, without values that may be secrets:',
    curl: 'Send it again with curl:',
    curlHint:
      'The signature is valid for the time of the attempt: libraries that check webhook-timestamp reject it after 5 minutes.',
    dns: 'DNS',
    connect: 'connecting',
    tls: 'TLS',
    firstByte: 'until the response',
    total: 'total',
    reused: 'connection already open',
  },
};
