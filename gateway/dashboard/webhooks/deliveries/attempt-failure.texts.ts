import { AttemptFailure } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';

/** A failure in a few words, and what to do about it. */
interface FailureText {
  readonly summary: string;
  readonly advice: string;
}

type FailureTexts = Readonly<Record<Exclude<AttemptFailure, AttemptFailure.UNSPECIFIED>, FailureText>>;

const portuguese: FailureTexts = {
  [AttemptFailure.DNS]: {
    summary: 'Host não encontrado (DNS)',
    advice: 'O host da URL não tem endereço no DNS público. Crie o registro A ou AAAA, ou corrija a URL.',
  },
  [AttemptFailure.DNS_TIMEOUT]: {
    summary: 'Tempo esgotado no DNS',
    advice:
      'Os servidores de DNS do domínio não responderam a tempo. Verifique-os com o seu provedor de DNS.',
  },
  [AttemptFailure.CONNECT_TIMEOUT]: {
    summary: 'Tempo esgotado ao conectar',
    advice:
      'O servidor não aceitou a conexão em 5 segundos. Em geral, um firewall descarta nossos pacotes: libere a porta da URL para a internet.',
  },
  [AttemptFailure.CONNECTION_REFUSED]: {
    summary: 'Conexão recusada',
    advice: 'Nenhum programa escuta na porta da URL. Inicie o servidor ou corrija a porta.',
  },
  [AttemptFailure.CONNECTION_RESET]: {
    summary: 'Conexão interrompida',
    advice:
      'O servidor, ou um proxy à frente dele, encerrou a conexão antes de responder por completo. Consulte os logs de ambos neste horário.',
  },
  [AttemptFailure.UNREACHABLE]: {
    summary: 'Host inacessível',
    advice:
      'Não há rota até o endereço do host. Verifique se o registro de DNS aponta para o servidor certo.',
  },
  [AttemptFailure.NOT_TLS]: {
    summary: 'A porta não usa TLS',
    advice:
      'A porta da URL respondeu sem TLS: em geral, é a porta de HTTP comum. Use a porta de HTTPS ou ative TLS nesta.',
  },
  [AttemptFailure.CERTIFICATE_SELF_SIGNED]: {
    summary: 'Certificado autoassinado',
    advice:
      'O certificado foi emitido pelo próprio servidor. Instale um de uma autoridade pública, como a Let’s Encrypt.',
  },
  [AttemptFailure.CERTIFICATE_WRONG_NAME]: {
    summary: 'Certificado de outro host',
    advice: 'O certificado não inclui o host da URL. Emita um que o inclua ou corrija a URL.',
  },
  [AttemptFailure.CERTIFICATE_EXPIRED]: {
    summary: 'Certificado expirado',
    advice:
      'O certificado, ou um intermediário da cadeia, expirou. Renove-o e recarregue o servidor para que ele use o novo.',
  },
  [AttemptFailure.CERTIFICATE_NOT_YET_VALID]: {
    summary: 'Certificado ainda não válido',
    advice: 'A validade do certificado começa no futuro. Instale um que já seja válido.',
  },
  [AttemptFailure.CERTIFICATE_UNKNOWN_ISSUER]: {
    summary: 'Emissor do certificado desconhecido',
    advice:
      'A cadeia não leva a uma autoridade pública. Em geral, falta o certificado intermediário: configure o servidor para enviar a cadeia completa. Autoridades privadas não são aceitas.',
  },
  [AttemptFailure.TLS]: {
    summary: 'Falha de TLS',
    advice:
      'A negociação de TLS falhou. Aceite TLS 1.2 ou 1.3 e não exija certificado de cliente; teste com o openssl.',
  },
  [AttemptFailure.TLS_TIMEOUT]: {
    summary: 'Tempo esgotado na negociação de TLS',
    advice:
      'O servidor aceitou a conexão, mas não concluiu a negociação de TLS em 5 segundos. Verifique se a porta usa TLS e se o servidor está sobrecarregado.',
  },
  [AttemptFailure.TIMEOUT]: {
    summary: 'Tempo esgotado ao aguardar a resposta',
    advice:
      'O servidor recebeu a requisição e não começou a responder em 15 segundos. Responda com 2xx logo e processe o evento depois.',
  },
  [AttemptFailure.BODY_TIMEOUT]: {
    summary: 'Tempo esgotado ao ler a resposta',
    advice:
      'O servidor começou a responder e não terminou em 15 segundos. Envie uma resposta curta, com Content-Length, e encerre-a.',
  },
  [AttemptFailure.PROTOCOL]: {
    summary: 'Resposta HTTP inválida',
    advice:
      'A resposta não é HTTP/1.1 válido, tem mais de 16 KB de cabeçalhos, ou é 100 Continue sem que o pedíssemos. Verifique o servidor, ou o proxy à frente dele, com curl --http1.1 -v.',
  },
  [AttemptFailure.EGRESS_DENIED]: {
    summary: 'O host aponta para um endereço não público',
    advice: 'Só enviamos a endereços públicos. Aponte o registro de DNS para um endereço público.',
  },
  [AttemptFailure.PROXY]: {
    summary: 'Falha na nossa conexão com a internet',
    advice: 'O problema está do nosso lado. Não é preciso fazer nada: tentaremos novamente.',
  },
  [AttemptFailure.WORKER_LOST]: {
    summary: 'Interrompida do nosso lado; pode ter chegado ao seu servidor',
    advice: 'O problema está do nosso lado. Tentaremos novamente com o mesmo webhook-id.',
  },
};

const english: FailureTexts = {
  [AttemptFailure.DNS]: {
    summary: 'Host not found (DNS)',
    advice: 'The host of the URL has no address in public DNS. Add an A or AAAA record, or correct the URL.',
  },
  [AttemptFailure.DNS_TIMEOUT]: {
    summary: 'DNS timed out',
    advice: 'The DNS servers of the domain did not respond in time. Check them with your DNS provider.',
  },
  [AttemptFailure.CONNECT_TIMEOUT]: {
    summary: 'Connection timed out',
    advice:
      'Your server did not accept the connection within 5 seconds. Usually a firewall drops our packets: open the port of the URL to the internet.',
  },
  [AttemptFailure.CONNECTION_REFUSED]: {
    summary: 'Connection refused',
    advice: 'Nothing listens on the port of the URL. Start your server, or correct the port.',
  },
  [AttemptFailure.CONNECTION_RESET]: {
    summary: 'Connection reset',
    advice:
      'Your server, or a proxy in front of it, closed the connection before a complete response. Look at the logs of both at this time.',
  },
  [AttemptFailure.UNREACHABLE]: {
    summary: 'Host unreachable',
    advice:
      'There is no route to the address of the host. Check that its DNS record points to the right server.',
  },
  [AttemptFailure.NOT_TLS]: {
    summary: 'The port does not speak TLS',
    advice:
      'The port of the URL answered without TLS: usually it serves plain HTTP. Use the HTTPS port, or enable TLS on this one.',
  },
  [AttemptFailure.CERTIFICATE_SELF_SIGNED]: {
    summary: 'Self-signed certificate',
    advice:
      'The certificate was issued by the server itself. Install one from a public authority such as Let’s Encrypt.',
  },
  [AttemptFailure.CERTIFICATE_WRONG_NAME]: {
    summary: 'Certificate for another host',
    advice: 'The certificate does not include the host of the URL. Issue one that does, or correct the URL.',
  },
  [AttemptFailure.CERTIFICATE_EXPIRED]: {
    summary: 'Certificate expired',
    advice:
      'The certificate, or an intermediate one of its chain, has expired. Renew it and reload your server so that it uses the new one.',
  },
  [AttemptFailure.CERTIFICATE_NOT_YET_VALID]: {
    summary: 'Certificate not valid yet',
    advice: 'The certificate becomes valid in the future. Install one that is valid now.',
  },
  [AttemptFailure.CERTIFICATE_UNKNOWN_ISSUER]: {
    summary: 'Unknown certificate issuer',
    advice:
      'The chain does not lead to a public authority. Usually the intermediate certificate is missing: configure your server to send the full chain. Private authorities are not accepted.',
  },
  [AttemptFailure.TLS]: {
    summary: 'TLS handshake failed',
    advice:
      'The TLS handshake failed. Accept TLS 1.2 or 1.3 and do not require a client certificate; try it with openssl.',
  },
  [AttemptFailure.TLS_TIMEOUT]: {
    summary: 'TLS handshake timed out',
    advice:
      'Your server accepted the connection but did not finish the TLS handshake within 5 seconds. Check that the port speaks TLS and that the server is not overloaded.',
  },
  [AttemptFailure.TIMEOUT]: {
    summary: 'Response timed out',
    advice:
      'Your server received the request and did not begin to respond within 15 seconds. Respond with 2xx at once and process the event afterwards.',
  },
  [AttemptFailure.BODY_TIMEOUT]: {
    summary: 'Reading the response timed out',
    advice:
      'Your server began to respond and did not finish within 15 seconds. Send a short response with Content-Length, and end it.',
  },
  [AttemptFailure.PROTOCOL]: {
    summary: 'Invalid HTTP response',
    advice:
      'The response is not valid HTTP/1.1, has more than 16 KB of headers, or is a 100 Continue that we did not ask for. Check your server, or the proxy in front of it, with curl --http1.1 -v.',
  },
  [AttemptFailure.EGRESS_DENIED]: {
    summary: 'The host resolves to a non-public address',
    advice: 'We send to public addresses only. Point the DNS record to a public address.',
  },
  [AttemptFailure.PROXY]: {
    summary: 'Error in our connection to the internet',
    advice: 'The problem is on our side. You do not need to do anything: we will try again.',
  },
  [AttemptFailure.WORKER_LOST]: {
    summary: 'Interrupted on our side; it may have reached your server',
    advice: 'The problem is on our side. We will try again with the same webhook-id.',
  },
};

export const attemptFailureTexts = {
  'pt-BR': {
    failures: portuguese,
    certificateNames: (names: string) => `Nomes no certificado: ${names}.`,
    redirect: 'Não seguimos redirecionamentos. Use o endereço final como URL do endpoint.',
    redirectTo: (location: string) =>
      `Seu servidor redirecionou para ${location}. Não seguimos redirecionamentos: use o endereço final como URL do endpoint.`,
  },
  en: {
    failures: english,
    certificateNames: (names: string) => `Names in the certificate: ${names}.`,
    redirect: 'We do not follow redirects. Use the final address as the URL of the endpoint.',
    redirectTo: (location: string) =>
      `Your server redirected to ${location}. We do not follow redirects: use the final address as the URL of the endpoint.`,
  },
};
