import { Type } from 'typebox';
import type { RouteDependencies } from '../shell/dependencies.ts';
import { LANGUAGE_COOKIE, LANGUAGES, languageOf } from '../shell/language.ts';
import { returnPathOf } from '../sign-in/return-path.ts';

const YEAR_S = 365 * 24 * 60 * 60;

/** GET /language: stores the language `to` in a cookie, by default the other one, and redirects to `return`. */
export function languageRoute({ app }: Pick<RouteDependencies, 'app'>): void {
  const querystring = Type.Object({
    to: Type.Optional(Type.Enum([...LANGUAGES])),
    return: Type.Optional(Type.String()),
  });
  app.get('/language', { schema: { querystring } }, (request, reply) => {
    const { to = LANGUAGES.find((other) => other !== languageOf(request))!, return: path } = request.query;
    reply.setCookie(LANGUAGE_COOKIE, to, {
      path: '/',
      httpOnly: true,
      secure: true,
      sameSite: 'lax',
      maxAge: YEAR_S,
    });
    return reply.redirect(returnPathOf(path), 303);
  });
}
