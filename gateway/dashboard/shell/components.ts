import { randomUUID } from 'node:crypto';
import { type Timestamp, timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { Type } from 'typebox';
import { headingFragment } from '../../docs/guide-headings.ts';
import { type Html, html, nothing } from './html.ts';
import { layoutTexts } from './layout.texts.ts';
import { type Person, type PlainView, pathTo, textsFor, type View } from './view.ts';

/** A deadline this close is marked as urgent. */
const SOON_MS = 48 * 3_600_000;

/** The meaning of a badge's or notice's color. */
export type Tone = 'good' | 'busy' | 'bad' | 'off';

export interface Column<Row> {
  readonly label: string;
  cell(row: Row): Html | string;
  /** Amounts and counts are aligned to the end. */
  readonly isNumber?: boolean;
  /** Names, addresses and other text that people wrote, whose long words may be split; other words never are on wide screens. */
  readonly isFreeText?: boolean;
  /**
   * Where the cell goes on narrow screens, when rows are compact there. It has no label; `wide` takes a line. What is
   * `hidden` there is also hidden on tablets.
   */
  readonly narrow?: 'start' | 'end' | 'wide' | 'hidden';
}

/**
 * A table that becomes a list of cards on narrow screens, or a list of compact rows when its columns say where they go
 * there; without rows, the text `empty`.
 */
export function dataTable<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  empty: Html | string,
): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const head = columns.map(
    ({ label, isNumber, narrow }) =>
      html`<th scope="col"${numeric(isNumber)}${narrow === 'hidden' ? html` data-narrow="hidden"` : nothing}>${label}</th>`,
  );
  const cells = (row: Row) =>
    columns.map(
      ({ label, cell, isNumber, isFreeText, narrow }) =>
        html`<td data-label="${label}"${isFreeText ? html` class="free"` : numeric(isNumber)}${narrow ? html` data-narrow="${narrow}"` : nothing}>${cell(row)}</td>`,
    );
  const isCompact = columns.some(({ narrow }) => narrow);
  // Without text there is no link that Tab could reach, and not every browser lets Tab reach what scrolls.
  const hasOnlyNumbers = columns.every(({ isNumber }) => isNumber);
  const focus = hasOnlyNumbers ? html` tabindex="0" role="group" aria-label="${caption}"` : nothing;
  return html`<div class="table"${focus}><table${isCompact ? html` class="compact"` : nothing}><caption>${caption}</caption><thead><tr>${head}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`;
}

const numeric = (isNumber: boolean | undefined) => (isNumber ? html` class="number"` : nothing);

/** A link to a page of the merchant, by its path below the merchant's. */
export function link(view: View, path: string, content: Html | string): Html {
  return html`<a href="${pathTo(view, path)}">${content}</a>`;
}

/** An id that a table abbreviates to its beginning, on one line; the whole id can be selected and searched. */
export function shortenedId(id: string): Html {
  return html`<code class="shortened" title="${id}">${id}</code>`;
}

/** An amount in centavos, formatted as reais. */
export function money({ format }: Pick<PlainView, 'format'>, amountMinor: bigint): Html {
  return html`<data value="${amountMinor}"${amountMinor === 0n ? html` class="zero"` : nothing}>${format.money(amountMinor)}</data>`;
}

/** A card with an amount in centavos, and what it means. */
export function amountCard(view: PlainView, name: string, amountMinor: bigint, hint?: Html | string): Html {
  return html`<div class="card"><p class="soft">${name}</p><p class="figure">${money(view, amountMinor)}</p>${hint ? html`<p class="hint">${hint}</p>` : nothing}</div>`;
}

/** A column of amounts in centavos. */
export function amountColumn<Row>(
  view: Pick<PlainView, 'format'>,
  label: string,
  amountMinorOf: (row: Row) => bigint,
): Column<Row> {
  return { label, isNumber: true, cell: (row) => money(view, amountMinorOf(row)) };
}

export function countColumn<Row>(
  view: Pick<PlainView, 'format'>,
  label: string,
  countOf: (row: Row) => number | bigint,
): Column<Row> {
  return { label, isNumber: true, cell: (row) => view.format.number(countOf(row)) };
}

/** A list of names and values, without those that have no value. */
export function details(pairs: readonly (readonly [name: string, value: Html | string | undefined])[]): Html {
  const known = pairs.filter(([, value]) => value !== undefined && value !== '');
  return html`<dl>${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value!}</dd></div>`)}</dl>`;
}

/** A step of a process: completed, in progress, failed or pending. */
export interface TimelineStep {
  readonly state: 'done' | 'now' | 'failed' | 'waiting';
  readonly content: Html;
}

/** A vertical list of steps, in order. */
export function timeline(steps: readonly TimelineStep[]): Html {
  return html`<ol class="timeline">${steps.map(
    ({ state, content }) =>
      html`<li class="${state}"${state === 'now' ? html` aria-current="step"` : nothing}>${content}</li>`,
  )}</ol>`;
}

/** A short text with a background color. */
export function badge(tone: Tone, text: string): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** Shown in place of a missing value. */
export const NONE = '—';

/** A time in Brasília time, and on hover in UTC, as in the logs of most servers; NONE when undefined. */
export function moment(view: PlainView, at: Timestamp | undefined): Html {
  if (!at) return html`${NONE}`;
  const iso = timestampDate(at).toISOString();
  const utc = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return html`<time datetime="${iso}" title="${utc}">${view.format.dateTime(at)}</time>`;
}

/** A long text with a copy button, which the script shows. */
export function copyable(view: PlainView, text: string): Html {
  const t = textsFor(view, layoutTexts);
  return html`<span class="copyable"><code>${text}</code> <button type="button" class="small" data-copy data-copied="${t.copied}" hidden>${t.copy}</button></span>`;
}

/** Several lines with a copy button, which the script shows; without it they can be selected. */
export function copyableBlock(view: PlainView, text: string): Html {
  const t = textsFor(view, layoutTexts);
  return html`<div class="copyable-block"><pre><code>${text}</code></pre><button type="button" class="small" data-copy data-copied="${t.copied}" hidden>${t.copy}</button></div>`;
}

/** A secret that only this response contains, below a text that says so; the script removes it when the page is left. */
export function shownOnce(view: PlainView, text: Html, secret: string): Html {
  return html`<div class="secret">${text}
<p class="value" data-once>${copyable(view, secret)}</p></div>`;
}

/** The `page` query parameter of a page with a `pager`: the list's page token. */
export const pageParameter = Type.Optional(Type.String({ maxLength: 256 }));

/** Links to a list's first page, and to the next if there is one. */
export function pager(view: PlainView, nextPageToken: string): Html {
  const t = textsFor(view, layoutTexts);
  const [path = '', query = ''] = view.url.split('?');
  const parameters = new URLSearchParams(query);
  const isFirst = !parameters.get('page');
  if (isFirst && nextPageToken === '') return nothing;
  const at = (token: string) => {
    const other = new URLSearchParams(parameters);
    other.delete('page');
    other.delete('notice');
    if (token) other.set('page', token);
    return `${path}?${other}`;
  };
  return html`<nav class="pager" aria-label="${t.pages}">
${isFirst ? nothing : html`<a rel="first" href="${at('')}">${t.first}</a>`}
${nextPageToken === '' ? nothing : html`<a rel="next" href="${at(nextPageToken)}">${t.next}</a>`}
</nav>`;
}

/** The time left until a deadline, or how long ago it passed, as a badge. */
export function deadlineBadge(view: PlainView, at: Timestamp): Html {
  const t = textsFor(view, layoutTexts);
  const leftMs = timestampMs(at) - Date.now();
  const relative = view.format.relative(at);
  if (leftMs <= 0) return badge('bad', t.wasDue(relative));
  return badge(leftMs < SOON_MS ? 'bad' : 'busy', t.due(relative));
}

interface FormOptions {
  /** The action's path below the merchant's, with its parameters filled in. */
  readonly action: string;
  readonly submit: string;
  readonly tone?: 'primary' | 'danger' | 'plain';
  readonly fields?: Html;
  readonly hasFile?: boolean;
}

export function hiddenFields(values: Readonly<Record<string, string>>): Html {
  return html`${Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}`;
}

/** A form of the signed-in person, with the session's CSRF token and a unique key. */
export function personForm({ csrfToken }: Person, action: string, content: Html, hasFile = false): Html {
  const type = hasFile ? html` enctype="multipart/form-data"` : nothing;
  return html`<form method="post" action="${action}"${type}>${hiddenFields({ _csrf: csrfToken, _key: randomUUID() })}
${content}
</form>`;
}

/** A form whose action belongs to the merchant. */
export function form(view: View, { action, submit, tone = 'primary', fields, hasFile }: FormOptions): Html {
  const content = html`${fields ?? nothing}<button class="${tone}">${submit}</button>`;
  return personForm(view.person, pathTo(view, action), content, hasFile);
}

interface ConfirmOptions extends FormOptions {
  /** Explains the effect, unless the page does so beside the form. */
  readonly text?: string;
  readonly isOpen?: boolean;
}

/** A form for an action that cannot be undone, collapsed until opened. */
export function confirmForm(view: View, title: string, options: ConfirmOptions): Html {
  return html`<details class="confirm"${options.isOpen ? html` open` : nothing}><summary>${title}</summary>${options.text ? html`<p>${options.text}</p>` : nothing}${form(view, options)}</details>`;
}

interface Field {
  readonly name: string;
  /** The name, unless the page has several fields of that name. */
  readonly id?: string;
  readonly label: string;
  readonly hint?: string;
  /** Why the submitted value was rejected. */
  readonly fault?: string | undefined;
}

/**
 * A labeled control; `control` receives the attributes that link it to its label, hint and fault. The first field with a
 * fault is focused when the page opens.
 */
export function field(
  { name, id = name, label, hint, fault }: Field,
  control: (attributes: Html) => Html,
): Html {
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  const attributes = html`id="${id}" name="${name}"${
    described ? html` aria-describedby="${described}"` : nothing
  }${fault ? html` aria-invalid="true" autofocus` : nothing}`;
  return html`<div class="field"><label for="${id}">${label}</label>
${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : nothing}
${control(attributes)}
${fault ? html`<p class="fault" id="${id}-fault">${fault}</p>` : nothing}</div>`;
}

/** A labeled text field, or another kind of input as its further attributes say. */
export function inputField(about: Field, value: string, attributes: Html): Html {
  return field(about, (linked) => html`<input ${linked} ${attributes} value="${value}">`);
}

/** A drop-down. By default the option without a value is chosen or, if there is none, the first. */
export function select(
  options: readonly (readonly [value: string, text: string])[],
  chosen = '',
): (attributes: Html) => Html {
  return (attributes) =>
    html`<select ${attributes}>${options.map(
      ([value, text]) =>
        html`<option value="${value}"${value === chosen ? html` selected` : nothing}>${text}</option>`,
    )}</select>`;
}

/** A paragraph that links a heading of the guides in the viewer's language, by its English name, if they have a public URL. */
export function docsLink(
  { docsUrl, language }: Pick<View, 'docsUrl' | 'language'>,
  heading: string,
  text: string,
): Html {
  if (docsUrl === undefined) return nothing;
  return html`<p class="hint"><a href="${docsUrl}${headingFragment(heading, language)}" rel="noreferrer">${text}</a></p>`;
}

/** A highlighted message; announced at once when its tone is bad. */
export function notice(tone: Tone, content: Html | string): Html {
  return html`<div class="notice ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">${content}</div>`;
}
