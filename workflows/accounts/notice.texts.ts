import type { FailureCause } from './failure-cause.ts';

/** What a mail about a subscription says of it. */
export interface WebhookFacts {
  readonly url: string;
  readonly isLive: boolean;
  readonly since: string;
  readonly why: string;
  readonly link: string;
}

/** What a mail about an invitation says of it. */
export interface InvitationFacts {
  readonly merchantId: string;
  readonly role: string;
  readonly email: string;
  readonly until: string;
  readonly link: string;
}

interface Texts {
  readonly errorSubject: (host: string, isLive: boolean) => string;
  readonly error: (facts: WebhookFacts) => string;
  readonly goneSubject: (host: string, isLive: boolean) => string;
  readonly gone: (facts: WebhookFacts) => string;
  readonly invitationSubject: string;
  readonly invitation: (facts: InvitationFacts) => string;
  readonly roles: readonly [none: string, viewer: string, developer: string, admin: string];
  readonly why: (cause: FailureCause) => string;
}

const portugueseFailures: Readonly<Record<string, string>> = {
  DNS: 'O nome do endereço não foi encontrado no DNS.',
  CONNECT_TIMEOUT: 'O servidor não aceitou a conexão a tempo.',
  CONNECTION_REFUSED: 'O servidor recusou a conexão.',
  CONNECTION_RESET: 'O servidor encerrou a conexão antes de responder.',
  TLS: 'A conexão segura (TLS) falhou; em geral, o certificado venceu ou não vale para este endereço.',
  TIMEOUT: 'O servidor não respondeu dentro do prazo.',
  EGRESS_DENIED: 'O endereço leva a uma rede à qual não enviamos webhooks.',
  PROTOCOL: 'A resposta do servidor não é HTTP válido.',
  UNREACHABLE: 'Não há rota até o servidor.',
};

const englishFailures: Readonly<Record<string, string>> = {
  DNS: 'The name in its address was not found in the DNS.',
  CONNECT_TIMEOUT: 'The server did not accept the connection in time.',
  CONNECTION_REFUSED: 'The server refused the connection.',
  CONNECTION_RESET: 'The server closed the connection before it answered.',
  TLS: 'The secure connection (TLS) failed; mostly a certificate has expired or is not for this address.',
  TIMEOUT: 'The server did not answer in time.',
  EGRESS_DENIED: 'The address leads into a network that we send no webhooks to.',
  PROTOCOL: 'What the server answered is no valid HTTP.',
  UNREACHABLE: 'There is no route to the server.',
};

const portuguesePlace = (isLive: boolean) => (isLive ? 'produção' : 'ambiente de testes');
const englishPlace = (isLive: boolean) => (isLive ? 'live' : 'sandbox');

export const texts: Readonly<Record<'pt-BR' | 'en', Texts>> = {
  'pt-BR': {
    errorSubject: (host, isLive) => `Webhook com falhas (${portuguesePlace(isLive)}): ${host}`,
    error: ({ url, isLive, since, why, link }) => `Um webhook da sua loja está falhando.

Endereço: ${url}
Ambiente: ${portuguesePlace(isLive)}
Desde: ${since}
Motivo: ${why}

Pelo menos um evento não foi entregue depois de todas as tentativas. Continuamos enviando os eventos novos; o webhook volta ao normal assim que o seu servidor responder com um status 2xx.

O que fazer
1. Corrija o servidor: ele precisa responder com um status 2xx em até 15 segundos.
2. Veja no painel o que foi enviado e o que voltou:
   ${link}
3. Lá mesmo, reenvie o que não chegou.

Se o webhook se recuperar e falhar de novo, avisamos outra vez, no máximo uma vez por hora.
`,
    goneSubject: (host, isLive) => `Webhook desativado (${portuguesePlace(isLive)}): ${host}`,
    gone: ({ url, isLive, since, link }) => `Um webhook da sua loja foi desativado.

Endereço: ${url}
Ambiente: ${portuguesePlace(isLive)}
Desde: ${since}
Motivo: O seu servidor respondeu HTTP 410 (Gone), que significa que ele não quer mais receber eventos.

Nada mais é enviado a este endereço. Se era isso que você queria, não é preciso fazer nada.

Se não era
1. Corrija o servidor, para que ele não responda mais com 410.
2. Reative o webhook no painel, que oferece reenviar o que faltou:
   ${link}
`,
    invitationSubject: 'Convite para o painel de pagamentos',
    invitation: ({
      merchantId,
      role,
      email,
      until,
      link,
    }) => `Você foi convidado para o painel de pagamentos de uma loja.

Loja: ${merchantId}
Papel: ${role}
Válido até: ${until}

Para aceitar, entre no painel com este endereço de e-mail (${email}):
${link}

Se você não esperava este convite, ignore esta mensagem.
`,
    roles: ['—', 'leitura', 'desenvolvimento', 'administração'],
    why: (cause) => {
      switch (cause.kind) {
        case 'HTTP':
          return `O seu servidor respondeu com o status HTTP ${cause.status}.`;
        case 'FAILURE':
          return portugueseFailures[cause.name] ?? 'A entrega não foi possível.';
        case 'TOO_OLD':
          return 'Um evento ficou tempo demais sem ser entregue.';
        case 'UNKNOWN':
          return 'A entrega não foi possível.';
        default:
          return cause satisfies never;
      }
    },
  },
  en: {
    errorSubject: (host, isLive) => `Webhook failing (${englishPlace(isLive)}): ${host}`,
    error: ({ url, isLive, since, why, link }) => `A webhook of your store is failing.

Address: ${url}
Environment: ${englishPlace(isLive)}
Since: ${since}
Reason: ${why}

At least one event was not delivered after all attempts. We go on sending new events; the webhook is well again as soon as your server answers one with a 2xx status.

What to do
1. Put the server right: it has to answer with a 2xx status within 15 seconds.
2. See in the dashboard what was sent and what came back:
   ${link}
3. Send from there again what did not arrive.

If the webhook recovers and fails again we write again, once an hour at most.
`,
    goneSubject: (host, isLive) => `Webhook disabled (${englishPlace(isLive)}): ${host}`,
    gone: ({ url, isLive, since, link }) => `A webhook of your store has been disabled.

Address: ${url}
Environment: ${englishPlace(isLive)}
Since: ${since}
Reason: Your server answered HTTP 410 (Gone), which says that it wants no more events.

Nothing more is sent to this address. If that is what you wanted, there is nothing to do.

If it is not
1. Put the server right, so that it does not answer 410 any more.
2. Reactivate the webhook in the dashboard, which offers to send what was missed:
   ${link}
`,
    invitationSubject: 'Invitation to the payments dashboard',
    invitation: ({
      merchantId,
      role,
      email,
      until,
      link,
    }) => `You have been invited to the payments dashboard of a store.

Store: ${merchantId}
Role: ${role}
Valid until: ${until}

To accept, sign in to the dashboard with this e-mail address (${email}):
${link}

If you did not expect this invitation, ignore this message.
`,
    roles: ['—', 'viewer', 'developer', 'administrator'],
    why: (cause) => {
      switch (cause.kind) {
        case 'HTTP':
          return `Your server answered with HTTP status ${cause.status}.`;
        case 'FAILURE':
          return englishFailures[cause.name] ?? 'It could not be delivered to.';
        case 'TOO_OLD':
          return 'An event was not delivered for too long.';
        case 'UNKNOWN':
          return 'It could not be delivered to.';
        default:
          return cause satisfies never;
      }
    },
  },
};
