import { Role } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import {
  AttemptFailure,
  type SubscriptionError,
  SubscriptionErrorCause,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import type { Language } from './mail-format.ts';

/** The values in a mail about a subscription. */
export interface WebhookFacts {
  readonly merchant: string;
  readonly url: string;
  readonly environment: EnvironmentName;
  readonly since: string;
  readonly reason: string;
  readonly link: string;
}

/** The error of a subscription, or how the last attempt to a failing one ended. */
type FailureFacts = Partial<Pick<SubscriptionError, 'cause' | 'httpStatus' | 'failure'>>;

/** The values in a mail about an invitation. */
export interface InvitationFacts {
  readonly merchant: string;
  readonly role: string;
  readonly email: string;
  readonly expiresAt: string;
  readonly link: string;
}

interface Texts {
  readonly errorSubject: (host: string, environment: EnvironmentName) => string;
  readonly error: (facts: WebhookFacts) => string;
  /** No delivery has run out of attempts yet. */
  readonly failing: (facts: WebhookFacts) => string;
  readonly goneSubject: (host: string, environment: EnvironmentName) => string;
  readonly gone: (facts: WebhookFacts) => string;
  readonly invitationSubject: string;
  readonly invitation: (facts: InvitationFacts) => string;
  /** By the number of the role. */
  readonly roles: Readonly<Record<Role, string>>;
  /** Why deliveries fail. */
  readonly reason: (error: FailureFacts | undefined) => string;
}

type FailureTexts = Readonly<Partial<Record<keyof typeof AttemptFailure, string>>>;

const portugueseFailures: FailureTexts = {
  DNS: 'O nome do servidor não foi encontrado no DNS.',
  DNS_TIMEOUT: 'O DNS do domínio não respondeu a tempo.',
  CONNECT_TIMEOUT: 'O servidor não aceitou a conexão a tempo.',
  CONNECTION_REFUSED: 'O servidor recusou a conexão.',
  CONNECTION_RESET: 'O servidor encerrou a conexão antes de responder.',
  NOT_TLS: 'A porta respondeu sem TLS: em geral, é a porta de HTTP comum.',
  CERTIFICATE_SELF_SIGNED: 'O certificado do servidor é autoassinado.',
  CERTIFICATE_WRONG_NAME: 'O certificado do servidor é de outro host.',
  CERTIFICATE_EXPIRED: 'O certificado do servidor expirou.',
  CERTIFICATE_NOT_YET_VALID: 'O certificado do servidor ainda não é válido.',
  CERTIFICATE_UNKNOWN_ISSUER:
    'O emissor do certificado não é conhecido. Em geral, falta o certificado intermediário.',
  TLS: 'A negociação da conexão segura (TLS) falhou.',
  TLS_TIMEOUT: 'O servidor não concluiu a negociação de TLS a tempo.',
  TIMEOUT: 'O servidor não respondeu dentro do prazo.',
  BODY_TIMEOUT: 'O servidor não terminou a resposta dentro do prazo.',
  EGRESS_DENIED: 'O endereço aponta para uma rede à qual não enviamos webhooks.',
  PROTOCOL: 'O servidor não enviou uma resposta HTTP válida.',
  UNREACHABLE: 'Não há rota até o servidor.',
};

const englishFailures: FailureTexts = {
  DNS: 'The host name could not be found in DNS.',
  DNS_TIMEOUT: 'DNS for the domain did not respond in time.',
  CONNECT_TIMEOUT: 'Your server did not accept the connection in time.',
  CONNECTION_REFUSED: 'Your server refused the connection.',
  CONNECTION_RESET: 'Your server closed the connection before responding.',
  NOT_TLS: 'The port answered without TLS: usually it serves plain HTTP.',
  CERTIFICATE_SELF_SIGNED: "Your server's certificate is self-signed.",
  CERTIFICATE_WRONG_NAME: "Your server's certificate is for another host name.",
  CERTIFICATE_EXPIRED: "Your server's certificate has expired.",
  CERTIFICATE_NOT_YET_VALID: "Your server's certificate is not valid yet.",
  CERTIFICATE_UNKNOWN_ISSUER:
    'The issuer of the certificate is not known. Usually the intermediate certificate is missing.',
  TLS: 'The handshake of the secure connection (TLS) failed.',
  TLS_TIMEOUT: 'Your server did not finish the TLS handshake in time.',
  TIMEOUT: 'Your server did not respond in time.',
  BODY_TIMEOUT: 'Your server did not finish its response in time.',
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

function reasonOf(error: FailureFacts | undefined, texts: ReasonTexts): string {
  if (error?.cause === SubscriptionErrorCause.DELIVERY_EXPIRED) return texts.expired;
  if (error?.httpStatus !== undefined) return texts.http(error.httpStatus);
  const failure = AttemptFailure[error?.failure ?? AttemptFailure.UNSPECIFIED] as keyof FailureTexts;
  return texts.failures[failure] ?? texts.other;
}

const portugueseEnvironments = { live: 'produção', test: 'testes' };
const englishEnvironments = { live: 'live', test: 'sandbox' };

export const texts: Readonly<Record<Language, Texts>> = {
  'pt-BR': {
    errorSubject: (host, environment) =>
      `Webhook com falha (${portugueseEnvironments[environment]}): ${host}`,
    error: ({ merchant, url, environment, since, reason, link }) => `Um webhook da sua empresa está falhando.

Empresa: ${merchant}
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
    failing: ({
      merchant,
      url,
      environment,
      since,
      reason,
      link,
    }) => `Um webhook da sua empresa está falhando.

Empresa: ${merchant}
URL: ${url}
Ambiente: ${portugueseEnvironments[environment]}
Desde: ${since}
Última resposta: ${reason}

Desde então, nenhuma tentativa deu certo. Nada se perdeu: continuamos tentando, e o webhook volta ao normal assim que o seu servidor responder a um evento com um status 2xx.

O que fazer
1. Corrija o servidor: ele precisa responder com um status 2xx em até 15 segundos.
2. Confira no painel o que foi enviado e como o servidor respondeu:
   ${link}

Se o webhook voltar ao normal e falhar de novo, enviaremos outro e-mail, no máximo um por hora.
`,
    goneSubject: (host, environment) =>
      `Webhook desativado (${portugueseEnvironments[environment]}): ${host}`,
    gone: ({ merchant, url, environment, since, link }) => `Um webhook da sua empresa foi desativado.

Empresa: ${merchant}
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
      merchant,
      role,
      email,
      expiresAt,
      link,
    }) => `Você recebeu um convite para acessar o painel de pagamentos de uma empresa.

Empresa: ${merchant}
Papel: ${role}
Válido até: ${expiresAt}

Para aceitar, entre no painel com este endereço de e-mail (${email}):
${link}

Se você não esperava este convite, ignore esta mensagem.
`,
    roles: {
      [Role.UNSPECIFIED]: '—',
      [Role.VIEWER]: 'Visualizador',
      [Role.FINANCE]: 'Financeiro',
      [Role.DEVELOPER]: 'Desenvolvedor',
      [Role.ADMIN]: 'Administrador',
    },
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
    error: ({ merchant, url, environment, since, reason, link }) => `One of your webhooks is failing.

Merchant: ${merchant}
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
    failing: ({ merchant, url, environment, since, reason, link }) => `One of your webhooks is failing.

Merchant: ${merchant}
URL: ${url}
Environment: ${englishEnvironments[environment]}
Since: ${since}
Last response: ${reason}

No attempt has succeeded since then. Nothing is lost: we keep trying, and the webhook recovers as soon as your server responds to an event with a 2xx status code.

What to do
1. Fix your server: it must respond with a 2xx status code within 15 seconds.
2. Check in the dashboard what we sent and how your server responded:
   ${link}

If the webhook recovers and fails again, we'll send you another email, at most once an hour.
`,
    goneSubject: (host, environment) => `Webhook disabled (${englishEnvironments[environment]}): ${host}`,
    gone: ({ merchant, url, environment, since, link }) => `One of your webhooks has been disabled.

Merchant: ${merchant}
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
      merchant,
      role,
      email,
      expiresAt,
      link,
    }) => `You've been invited to a merchant's payments dashboard.

Merchant: ${merchant}
Role: ${role}
Valid until: ${expiresAt}

To accept, sign in to the dashboard with this email address (${email}):
${link}

If you weren't expecting this invitation, you can ignore this email.
`,
    roles: {
      [Role.UNSPECIFIED]: '—',
      [Role.VIEWER]: 'Viewer',
      [Role.FINANCE]: 'Finance',
      [Role.DEVELOPER]: 'Developer',
      [Role.ADMIN]: 'Administrator',
    },
    reason: (error) =>
      reasonOf(error, {
        http: (status) => `Your server responded with HTTP status ${status}.`,
        failures: englishFailures,
        expired: 'An event went undelivered for too long.',
        other: 'Events could not be delivered.',
      }),
  },
};
