import { PROBLEM_TYPES, type ProblemCode } from '../problems/problem-types.ts';
import type { GuideLanguage } from './languages.ts';

type Meanings = Readonly<Record<ProblemCode, string>>;

/** What each error means, for the guides; in English as in the OpenAPI document. */
export const errorMeanings: Readonly<Record<GuideLanguage, Meanings>> = {
  en: Object.fromEntries(
    Object.entries(PROBLEM_TYPES).map(([code, { meaning }]) => [code, meaning]),
  ) as Meanings,
  'pt-BR': {
    INVALID_REQUEST:
      'Um parâmetro, um cabeçalho ou o corpo é inválido. O campo detail diz qual e o que é permitido.',
    INVALID_CURSOR:
      'O cursor não foi emitido para esta lista com estes filtros. Envie nextCursor exatamente como o recebeu, com os mesmos filtros, ou comece de novo sem cursor.',
    INVALID_WEBHOOK_URL:
      'A URL não é HTTPS pública: endereços privados, credenciais, fragmentos e outros esquemas são recusados.',
    INVALID_EVENT_TYPE: 'Um item de eventTypes não é um tipo de evento em que seja possível se inscrever.',
    IDEMPOTENCY_KEY_MISSING:
      'Esta operação exige um cabeçalho Idempotency-Key. Use um valor novo para cada coisa que quiser criar e o mesmo valor ao tentar novamente.',
    API_KEY_MISSING:
      'A requisição não tem chave de API. Envie-a no cabeçalho Authorization, depois de Bearer e um espaço.',
    API_KEY_INVALID: 'A chave de API foi digitada errada, é desconhecida ou foi revogada.',
    API_KEY_EXPIRED: 'A chave de API expirou. Use uma mais nova.',
    API_KEY_ENVIRONMENT_MISMATCH:
      'Chaves de produção (mpk_live_) funcionam no host de produção; chaves de testes (mpk_test_), no do ambiente de testes.',
    INSUFFICIENT_SCOPE: 'A chave de API é válida, mas não tem a permissão que o campo detail indica.',
    PRODUCT_NOT_FOUND: 'Nenhum produto desta empresa e deste ambiente tem esse id.',
    WEBHOOK_SUBSCRIPTION_NOT_FOUND:
      'Nenhuma inscrição de webhook desta empresa e deste ambiente tem esse id.',
    ROUTE_NOT_FOUND: 'Não há operação nesse caminho. Os caminhos não terminam com barra.',
    METHOD_NOT_ALLOWED:
      'O caminho existe, mas não aceita esse método. O cabeçalho Allow lista os métodos aceitos.',
    REQUEST_TIMEOUT: 'A requisição não chegou por completo a tempo.',
    WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS:
      'Já existe uma inscrição para essa URL. Se estiver desativada, você pode reativá-la no painel.',
    WEBHOOK_SUBSCRIPTION_LIMIT_REACHED:
      'A empresa atingiu o número máximo de inscrições. Desative uma antes.',
    IDEMPOTENCY_KEY_IN_USE:
      'Uma requisição com essa chave de idempotência ainda está em andamento. Tente novamente em instantes.',
    PAYLOAD_TOO_LARGE: 'O corpo tem mais de 64 KiB.',
    URI_TOO_LONG: 'O destino da requisição tem mais de 8000 caracteres.',
    UNSUPPORTED_MEDIA_TYPE: 'O corpo precisa ser application/json em UTF-8, sem Content-Encoding.',
    IDEMPOTENCY_KEY_REUSED:
      'Essa chave de idempotência foi usada com outro corpo nas últimas 24 horas. Use uma nova.',
    RATE_LIMITED: 'Requisições demais. Espere o número de segundos em Retry-After.',
    HEADERS_TOO_LARGE: 'A linha da requisição e os cabeçalhos somam mais de 16 KiB.',
    INTERNAL_ERROR: 'Algo falhou do nosso lado. Foi registrado com o requestId.',
    SERVICE_UNAVAILABLE:
      'Parte do serviço está indisponível. Tente novamente; para criar algo, use a mesma chave de idempotência.',
    DEADLINE_EXCEEDED:
      'A resposta demorou demais. Tente novamente; para criar algo, use a mesma chave de idempotência.',
  },
};
