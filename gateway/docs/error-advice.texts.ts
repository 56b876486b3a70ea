import type { ProblemCode } from '../problems/problem-types.ts';
import type { GuideLanguage } from './languages.ts';

/** Whether the same request can succeed when it is sent again. */
type Retry =
  | 'NO'
  | 'SOON'
  | 'AFTER_RETRY_AFTER'
  | 'AFTER_RETRY_AFTER_SAME_KEY'
  | 'BACKING_OFF'
  | 'A_FEW_TIMES';

/** Whether to retry after each error. */
export const ERROR_RETRIES: Readonly<Record<ProblemCode, Retry>> = {
  INVALID_REQUEST: 'NO',
  INVALID_CURSOR: 'NO',
  INVALID_WEBHOOK_URL: 'NO',
  INVALID_EVENT_TYPE: 'NO',
  IDEMPOTENCY_KEY_MISSING: 'NO',
  API_KEY_MISSING: 'NO',
  API_KEY_INVALID: 'NO',
  API_KEY_EXPIRED: 'NO',
  API_KEY_ENVIRONMENT_MISMATCH: 'NO',
  INSUFFICIENT_SCOPE: 'NO',
  PRODUCT_NOT_FOUND: 'NO',
  WEBHOOK_SUBSCRIPTION_NOT_FOUND: 'NO',
  ROUTE_NOT_FOUND: 'NO',
  METHOD_NOT_ALLOWED: 'NO',
  REQUEST_TIMEOUT: 'A_FEW_TIMES',
  WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS: 'NO',
  WEBHOOK_SUBSCRIPTION_LIMIT_REACHED: 'NO',
  IDEMPOTENCY_KEY_IN_USE: 'SOON',
  PAYLOAD_TOO_LARGE: 'NO',
  URI_TOO_LONG: 'NO',
  UNSUPPORTED_MEDIA_TYPE: 'NO',
  IDEMPOTENCY_KEY_REUSED: 'NO',
  RATE_LIMITED: 'AFTER_RETRY_AFTER',
  HEADERS_TOO_LARGE: 'NO',
  INTERNAL_ERROR: 'A_FEW_TIMES',
  SERVICE_UNAVAILABLE: 'AFTER_RETRY_AFTER_SAME_KEY',
  DEADLINE_EXCEEDED: 'BACKING_OFF',
};

/** Whether to retry, as text for the documentation. */
export const retryTexts: Readonly<Record<GuideLanguage, Readonly<Record<Retry, string>>>> = {
  en: {
    NO: 'No. The same request would fail again.',
    SOON: 'Yes, in a moment, with the same idempotency key.',
    AFTER_RETRY_AFTER: 'Yes, after the number of seconds in the Retry-After header.',
    AFTER_RETRY_AFTER_SAME_KEY:
      'Yes, after the number of seconds in the Retry-After header. To create something, use the same idempotency key.',
    BACKING_OFF:
      'Yes: after one second, then doubling the wait each time, with some jitter. To create something, use the same idempotency key.',
    A_FEW_TIMES:
      'A limited number of times, with increasing waits. To create something, use the same idempotency key. Contact support if it persists.',
  },
  'pt-BR': {
    NO: 'Não. A mesma requisição falharia de novo.',
    SOON: 'Sim, em instantes, com a mesma chave de idempotência.',
    AFTER_RETRY_AFTER: 'Sim, depois do número de segundos indicado no cabeçalho Retry-After.',
    AFTER_RETRY_AFTER_SAME_KEY:
      'Sim, depois do número de segundos indicado no cabeçalho Retry-After. Para criar algo, use a mesma chave de idempotência.',
    BACKING_OFF:
      'Sim: depois de um segundo, dobrando a espera a cada tentativa, com alguma variação aleatória. Para criar algo, use a mesma chave de idempotência.',
    A_FEW_TIMES:
      'Um número limitado de vezes, com esperas cada vez maiores. Para criar algo, use a mesma chave de idempotência. Se o erro continuar, fale com o suporte.',
  },
};

/** What a merchant's developer does about each error. */
export const errorActions: Readonly<Record<GuideLanguage, Readonly<Record<ProblemCode, string>>>> = {
  en: {
    INVALID_REQUEST: 'Correct what the detail points out.',
    INVALID_CURSOR:
      'Send nextCursor exactly as you received it, with the same filters, or start over without after.',
    INVALID_WEBHOOK_URL:
      'Use an https URL that is reachable from the internet, without credentials or fragment. For your own machine, run npx merchant-payments listen.',
    INVALID_EVENT_TYPE:
      'Use the event types listed in the reference. You cannot subscribe to webhook.ping.v1.',
    IDEMPOTENCY_KEY_MISSING:
      'Send an Idempotency-Key header with a new value for each thing you want to create.',
    API_KEY_MISSING: 'Send an Authorization header with the scheme Bearer, a space and the API key.',
    API_KEY_INVALID: 'Check that you copied the whole key. If it was revoked, issue a new one.',
    API_KEY_EXPIRED: 'Use the key that replaced it, or issue a new one.',
    API_KEY_ENVIRONMENT_MISMATCH: 'Send the key to the host of its environment, or use a key for this one.',
    INSUFFICIENT_SCOPE: 'Use a key that has the scope, or issue one.',
    PRODUCT_NOT_FOUND: 'Check the id, and that it belongs to the environment of this host.',
    WEBHOOK_SUBSCRIPTION_NOT_FOUND: 'Use an id from the list of subscriptions of this environment.',
    ROUTE_NOT_FOUND: 'Compare the path with the reference, including trailing slashes.',
    METHOD_NOT_ALLOWED: 'Use a method listed in the Allow header.',
    REQUEST_TIMEOUT: 'Send the whole request without pauses. On a slow connection, send smaller requests.',
    WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS:
      'Find it in the list of subscriptions. A disabled one can be reactivated in the dashboard.',
    WEBHOOK_SUBSCRIPTION_LIMIT_REACHED:
      'Disable subscriptions that you no longer need; disabled ones do not count.',
    IDEMPOTENCY_KEY_IN_USE:
      'Wait for the first request to finish. If you then repeat it, you get its response.',
    PAYLOAD_TOO_LARGE: 'Send a smaller body.',
    URI_TOO_LONG: 'Shorten the path and the query.',
    UNSUPPORTED_MEDIA_TYPE:
      'Send Content-Type: application/json, the body in UTF-8, and no Content-Encoding.',
    IDEMPOTENCY_KEY_REUSED: 'Use a new key for a new request, or send the same body as before.',
    RATE_LIMITED: 'Spread your requests more evenly. The RateLimit header says how many are left.',
    HEADERS_TOO_LARGE: 'Send fewer or shorter headers.',
    INTERNAL_ERROR: 'Contact support with the requestId.',
    SERVICE_UNAVAILABLE: 'Wait: nothing is wrong with the request.',
    DEADLINE_EXCEEDED:
      'Wait. To find out whether something was created, repeat the request with the same idempotency key.',
  },
  'pt-BR': {
    INVALID_REQUEST: 'Corrija o que o campo detail indica.',
    INVALID_CURSOR:
      'Envie nextCursor exatamente como o recebeu, com os mesmos filtros, ou comece de novo sem after.',
    INVALID_WEBHOOK_URL:
      'Use uma URL https acessível pela internet, sem credenciais nem fragmento. Para a sua própria máquina, execute npx merchant-payments listen.',
    INVALID_EVENT_TYPE:
      'Use os tipos de evento listados na referência. Não é possível se inscrever em webhook.ping.v1.',
    IDEMPOTENCY_KEY_MISSING:
      'Envie um cabeçalho Idempotency-Key com um valor novo para cada coisa que quiser criar.',
    API_KEY_MISSING: 'Envie um cabeçalho Authorization com o esquema Bearer, um espaço e a chave de API.',
    API_KEY_INVALID: 'Verifique se copiou a chave inteira. Se ela foi revogada, crie outra.',
    API_KEY_EXPIRED: 'Use a chave que a substituiu ou crie outra.',
    API_KEY_ENVIRONMENT_MISMATCH: 'Envie a chave ao host do ambiente dela ou use uma chave deste ambiente.',
    INSUFFICIENT_SCOPE: 'Use uma chave que tenha a permissão ou crie uma.',
    PRODUCT_NOT_FOUND: 'Confira o id e se ele pertence ao ambiente deste host.',
    WEBHOOK_SUBSCRIPTION_NOT_FOUND: 'Use um id da lista de inscrições deste ambiente.',
    ROUTE_NOT_FOUND: 'Compare o caminho com a referência, inclusive a barra no final.',
    METHOD_NOT_ALLOWED: 'Use um método listado no cabeçalho Allow.',
    REQUEST_TIMEOUT:
      'Envie a requisição inteira sem pausas. Em uma conexão lenta, envie requisições menores.',
    WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS:
      'Procure-a na lista de inscrições. Uma inscrição desativada pode ser reativada no painel.',
    WEBHOOK_SUBSCRIPTION_LIMIT_REACHED:
      'Desative inscrições de que não precisa mais; as desativadas não contam.',
    IDEMPOTENCY_KEY_IN_USE:
      'Espere a primeira requisição terminar. Se você a repetir depois disso, receberá a resposta dela.',
    PAYLOAD_TOO_LARGE: 'Envie um corpo menor.',
    URI_TOO_LONG: 'Encurte o caminho e a query.',
    UNSUPPORTED_MEDIA_TYPE:
      'Envie Content-Type: application/json, o corpo em UTF-8 e nenhum Content-Encoding.',
    IDEMPOTENCY_KEY_REUSED: 'Use uma chave nova para uma requisição nova ou envie o mesmo corpo de antes.',
    RATE_LIMITED: 'Distribua melhor as requisições. O cabeçalho RateLimit diz quantas restam.',
    HEADERS_TOO_LARGE: 'Envie menos cabeçalhos ou cabeçalhos menores.',
    INTERNAL_ERROR: 'Fale com o suporte e informe o requestId.',
    SERVICE_UNAVAILABLE: 'Espere: não há nada de errado com a requisição.',
    DEADLINE_EXCEEDED:
      'Espere. Para saber se algo foi criado, repita a requisição com a mesma chave de idempotência.',
  },
};
