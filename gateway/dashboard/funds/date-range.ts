import { addDays, civilDateAt, isCivilDate } from '../../../services/platform/civil-date.ts';
import { formatParameter } from '../exports/csv-links.ts';
import { inputField } from '../shell/components.ts';
import { Failure } from '../shell/failures.ts';
import { type Html, html } from '../shell/html.ts';
import { filterParameter } from '../shell/query-form.ts';
import { textsFor, type View } from '../shell/view.ts';
import { monthOf, monthShifted, type YearMonth } from './months.ts';
import { salesTexts } from './sales.texts.ts';

export const dateRangeParameters = { from: filterParameter, to: filterParameter };

export const fileParameters = { ...dateRangeParameters, format: formatParameter };

interface Bounds {
  readonly from: string;
  readonly to: string;
}

/** A range of dates as it was entered. A bound is empty when there is none. */
export class DateRange implements Bounds {
  readonly from: string;
  readonly to: string;
  /** Why a bound is not valid. */
  readonly #faults: { readonly [bound in keyof Bounds]: string | undefined };

  constructor(view: View, { from = '', to = '' }: Partial<Bounds>) {
    this.from = from.trim();
    this.to = to.trim();
    const t = textsFor(view, salesTexts);
    const [fromFault, toFault] = [this.from, this.to].map((date) =>
      date === '' || isCivilDate(date) ? undefined : t.notADate,
    );
    const isReversed = this.from !== '' && this.to !== '' && this.from > this.to;
    this.#faults = { from: fromFault ?? (isReversed && !toFault ? t.reversed : undefined), to: toFault };
  }

  /** The range of a query; without one, the current month. */
  static orCurrentMonth(view: View, { from = '', to = '' }: Partial<Bounds>): DateRange {
    if (from !== '' || to !== '') return new DateRange(view, { from, to });
    return DateRange.ofMonth(view, monthOf(civilDateAt(new Date())));
  }

  static ofMonth(view: View, month: YearMonth): DateRange {
    return new DateRange(view, { from: `${month}-01`, to: addDays(`${monthShifted(month, 1)}-01`, -1) });
  }

  get hasFault(): boolean {
    return this.#faults.from !== undefined || this.#faults.to !== undefined;
  }

  /** The query of a link to the same range. */
  get query() {
    return { from: this.from, to: this.to };
  }

  /** The fields of a request that limit it to the range. */
  get request() {
    return { ...(this.from && { fromDate: this.from }), ...(this.to && { toDate: this.to }) };
  }

  fields(labels: Readonly<Bounds>): Html {
    return html`${(['from', 'to'] as const).map((name) =>
      inputField({ name, label: labels[name], fault: this.#faults[name] }, this[name], html`type="date"`),
    )}`;
  }

  /**
   * The name of a file with what is in the range.
   * @throws Failure 400 if the range has a fault
   */
  fileName(list: string): string {
    if (this.hasFault) throw Failure.of(400, 'badRequest');
    return `${[list, this.from, this.to].filter((part) => part !== '').join('-')}.csv`;
  }
}
