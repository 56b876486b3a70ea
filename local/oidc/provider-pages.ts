import { html, raw } from 'hono/html';

type Language = 'pt-BR' | 'en';

const texts = {
  'pt-BR': {
    provider: 'Provedor de identidade local',
    signIn: 'Entrar',
    email: 'E-mail',
    password: 'Senha',
    cancel: 'Cancelar',
    refused: 'E-mail ou senha incorretos.',
    hint: 'O e-mail e a senha de demonstração estão em demo.json, na pasta de dados.',
    expired: 'Esta página de acesso expirou ou já foi usada.',
    failed: 'Não foi possível concluir a solicitação',
    back: 'Voltar ao painel',
    signOutQuestion: 'Sair também do provedor de identidade?',
    signOut: 'Sair',
    stay: 'Continuar conectado',
    signedOut: 'Você saiu do provedor de identidade.',
  },
  en: {
    provider: 'Local identity provider',
    signIn: 'Sign in',
    email: 'Email',
    password: 'Password',
    cancel: 'Cancel',
    refused: 'Incorrect email or password.',
    hint: 'The demo email and password are in demo.json, in the data folder.',
    expired: 'This sign-in page has expired or was already used.',
    failed: 'The request could not be completed',
    back: 'Back to the dashboard',
    signOutQuestion: 'Sign out of the identity provider as well?',
    signOut: 'Sign out',
    stay: 'Stay signed in',
    signedOut: 'You are signed out of the identity provider.',
  },
};

/** The provider's pages as HTML text, in the browser's language. Every value is escaped. */
export class ProviderPages {
  readonly #language: Language;
  readonly #dashboardUrl: string;

  /** `acceptLanguage`: the request's header. */
  constructor(acceptLanguage: string | undefined, dashboardUrl: string) {
    this.#language = /^\s*en\b/i.test(acceptLanguage ?? '') ? 'en' : 'pt-BR';
    this.#dashboardUrl = dashboardUrl;
  }

  /** `refused`: the email of a failed attempt. */
  signIn(refused?: string): Promise<string> {
    const text = texts[this.#language];
    return this.#page(
      text.signIn,
      html`
        ${refused === undefined ? '' : html`<p role="alert">${text.refused}</p>`}
        <form method="post">
          <label for="email">${text.email}</label>
          <input id="email" name="email" type="email" autocomplete="username" required value="${refused ?? ''}" autofocus>
          <label for="password">${text.password}</label>
          <input id="password" name="password" type="password" autocomplete="current-password" required>
          <button>${text.signIn}</button>
          <button name="cancel" value="yes" formnovalidate>${text.cancel}</button>
        </form>
        <p>${text.hint}</p>`,
    );
  }

  expired(): Promise<string> {
    const { expired } = texts[this.#language];
    return this.#page(expired, this.#backLink());
  }

  /** `reason`: an OAuth error and its description, such as `invalid_request: missing redirect_uri`. */
  failed(reason: string): Promise<string> {
    return this.#page(texts[this.#language].failed, html`<p>${reason}</p>${this.#backLink()}`);
  }

  /** `form`: the form that oidc-provider renders, without buttons. */
  signOut(form: string): Promise<string> {
    const text = texts[this.#language];
    return this.#page(
      text.signOutQuestion,
      html`
        ${raw(form)}
        <button form="op.logoutForm" name="logout" value="yes">${text.signOut}</button>
        <button form="op.logoutForm">${text.stay}</button>`,
    );
  }

  signedOut(): Promise<string> {
    return this.#page(texts[this.#language].signedOut, this.#backLink());
  }

  #backLink() {
    return html`<p><a href="${this.#dashboardUrl}">${texts[this.#language].back}</a></p>`;
  }

  async #page(title: string, body: unknown): Promise<string> {
    const { provider } = texts[this.#language];
    const page = await html`<!doctype html>
<html lang="${this.#language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · ${provider}</title>
    <link rel="stylesheet" href="/provider.css">
  </head>
  <body>
    <main>
      <p class="provider">${provider}</p>
      <h1>${title}</h1>
      ${body}
    </main>
  </body>
</html>`;
    return page.toString();
  }
}
