import {
  AttemptFailure,
  type SubscriptionError,
  SubscriptionErrorCause,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EnvironmentName } from '../../services/platform/tenant.ts';

/** The values in a mail about a subscription. */
export interface WebhookFacts {
  readonly url: string;
  readonly environment: EnvironmentName;
  readonly since: string;
  readonly reason: string;
  readonly link: string;
}

/** The values in a mail about an invitation. */
export interface InvitationFacts {
  readonly merchantId: string;
  readonly role: string;
  readonly email: string;
  readonly expiresAt: string;
  readonly link: string;
}

interface Texts {
  readonly errorSubject: (host: string, environment: EnvironmentName) => string;
  readonly error: (facts: WebhookFacts) => string;
  readonly goneSubject: (host: string, environment: EnvironmentName) => string;
  readonly gone: (facts: WebhookFacts) => string;
  readonly invitationSubject: string;
  readonly invitation: (facts: InvitationFacts) => string;
  readonly roles: readonly [none: string, viewer: string, developer: string, admin: string];
  /** Why the subscription is in ERROR. */
  readonly reason: (error: SubscriptionError | undefined) => string;
}

type FailureTexts = Readonly<Partial<Record<keyof typeof AttemptFailure, string>>>;

const portugueseFailures: FailureTexts = {
  DNS: 'O nome do servidor não foi encontrado no DNS.',
  CONNECT_TIMEOUT: 'O servidor não aceitou a conexão a tempo.',
  CONNECTION_REFUSED: 'O servidor recusou a conexão.',
  CONNECTION_RESET: 'O servidor encerrou a conexão antes de responder.',
  TLS: 'A conexão segura (TLS) falhou. Em geral, o certificado expirou ou não é válido para este endereço.',
  TIMEOUT: 'O servidor não respondeu dentro do prazo.',
  EGRESS_DENIED: 'O endereço aponta para uma rede à qual não enviamos webhooks.',
  PROTOCOL: 'O servidor não enviou uma resposta HTTP válida.',
  UNREACHABLE: 'Não há rota até o servidor.',
};

const englishFailures: FailureTexts = {
  DNS: 'The host name could not be found in DNS.',
  CONNECT_TIMEOUT: 'Your server did not accept the connection in time.',
  CONNECTION_REFUSED: 'Your server refused the connection.',
  CONNECTION_RESET: 'Your server closed the connection before responding.',
  TLS: 'The secure connection (TLS) failed, usually because the certificate has expired or does not match the host name.',
  TIMEOUT: 'Your server did not respond in time.',
  EGRESS_DENIED: 'The URL points to a network that we do not send webhooks to.',
  PROTOCOL: 'Your server did not send a valid HTTP response.',
  UNREACHABLE: 'There is no route to your server.',
};

interface ReasonTexts {
  readonly http: (status: number) => string;
  readonly failures: FailureTexts;
  readonly expired: string;
  readonly other: string;
}

function reasonOf(error: SubscriptionError | undefined, texts: ReasonTexts): string {
  if (error?.cause === SubscriptionErrorCause.DELIVERY_EXPIRED) return texts.expired;
  if (error?.httpStatus !== undefined) return texts.http(error.httpStatus);
  const failure = AttemptFailure[error?.failure ?? AttemptFailure.UNSPECIFIED] as keyof FailureTexts;
  return texts.failures[failure] ?? texts.other;
}

const portugueseEnvironments = { live: 'produção', test: 'testes' };
const englishEnvironments = { live: 'live', test: 'sandbox' };

export const texts: Readonly<Record<'pt-BR' | 'en', Texts>> = {
  'pt-BR': {
    errorSubject: (host, environment) =>
      `Webhook com falha (${portugueseEnvironments[environment]}): ${host}`,
    error: ({ url, environment, since, reason, link }) => `Um webhook da sua empresa está falhando.

URL: ${url}
Ambiente: ${portugueseEnvironments[environment]}
Desde: ${since}
Motivo: ${reason}

Pelo menos um evento não foi entregue depois de todas as tentativas. Continuamos enviando os novos eventos, e o webhook volta ao normal assim que o seu servidor responder a um deles com um status 2xx.

O que fazer
1. Corrija o servidor: ele precisa responder com um status 2xx em até 15 segundos.
2. Confira no painel o que foi enviado e como o servidor respondeu:
   ${link}
3. Na mesma página, reenvie os eventos que não chegaram.

Se o webhook voltar ao normal e falhar de novo, enviaremos outro e-mail, no máximo um por hora.
`,
    goneSubject: (host, environment) =>
      `Webhook desativado (${portugueseEnvironments[environment]}): ${host}`,
    gone: ({ url, environment, since, link }) => `Um webhook da sua empresa foi desativado.

URL: ${url}
Ambiente: ${portugueseEnvironments[environment]}
Desde: ${since}
Motivo: O seu servidor respondeu com HTTP 410 (Gone), que significa que ele não quer mais receber eventos.

Não enviamos mais nada a esta URL. Se era essa a intenção, você não precisa fazer nada.

Se não era
1. Corrija o servidor para que ele não responda mais com 410.
2. Reative o webhook no painel, onde você também pode reenviar os eventos perdidos:
   ${link}
`,
    invitationSubject: 'Convite para o painel de pagamentos',
    invitation: ({
      merchantId,
      role,
      email,
      expiresAt,
      link,
    }) => `Você recebeu um convite para acessar o painel de pagamentos de uma empresa.

Empresa: ${merchantId}
Papel: ${role}
Válido até: ${expiresAt}

Para aceitar, entre no painel com este endereço de e-mail (${email}):
${link}

Se você não esperava este convite, ignore esta mensagem.
`,
    roles: ['—', 'Visualizador', 'Desenvolvedor', 'Administrador'],
    reason: (error) =>
      reasonOf(error, {
        http: (status) => `O seu servidor respondeu com o status HTTP ${status}.`,
        failures: portugueseFailures,
        expired: 'Um evento ficou tempo demais sem ser entregue.',
        other: 'Não foi possível entregar os eventos.',
      }),
  },
  en: {
    errorSubject: (host, environment) => `Webhook failing (${englishEnvironments[environment]}): ${host}`,
    error: ({ url, environment, since, reason, link }) => `One of your webhooks is failing.

URL: ${url}
Environment: ${englishEnvironments[environment]}
Since: ${since}
Reason: ${reason}

At least one event could not be delivered after all attempts. We keep sending new events, and the webhook recovers as soon as your server responds to one with a 2xx status code.

What to do
1. Fix your server: it must respond with a 2xx status code within 15 seconds.
2. Check in the dashboard what we sent and how your server responded:
   ${link}
3. Resend the missed events from the same page.

If the webhook recovers and fails again, we'll send you another email, at most once an hour.
`,
    goneSubject: (host, environment) => `Webhook disabled (${englishEnvironments[environment]}): ${host}`,
    gone: ({ url, environment, since, link }) => `One of your webhooks has been disabled.

URL: ${url}
Environment: ${englishEnvironments[environment]}
Since: ${since}
Reason: Your server responded with HTTP 410 (Gone), which tells us that it no longer wants events.

We no longer send anything to this URL. If that is what you intended, you don't need to do anything.

If it isn't
1. Fix your server so that it no longer responds with 410.
2. Reactivate the webhook in the dashboard, where you can also resend the events you missed:
   ${link}
`,
    invitationSubject: 'Invitation to the payments dashboard',
    invitation: ({
      merchantId,
      role,
      email,
      expiresAt,
      link,
    }) => `You've been invited to a merchant's payments dashboard.

Merchant: ${merchantId}
Role: ${role}
Valid until: ${expiresAt}

To accept, sign in to the dashboard with this email address (${email}):
${link}

If you weren't expecting this invitation, you can ignore this email.
`,
    roles: ['—', 'Viewer', 'Developer', 'Administrator'],
    reason: (error) =>
      reasonOf(error, {
        http: (status) => `Your server responded with HTTP status ${status}.`,
        failures: englishFailures,
        expired: 'An event went undelivered for too long.',
        other: 'Events could not be delivered.',
      }),
  },
};
