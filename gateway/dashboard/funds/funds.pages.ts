import type { FeatureDependencies } from '../shell/feature.ts';
import { calendarPage } from './calendar.page.ts';
import { dayPage } from './day.page.ts';
import { projectionPage } from './projection.page.ts';

/** Pages of funds: the balance and calendar, the releases of a day, and what the next months bring. */
export function fundsPages(dependencies: FeatureDependencies): void {
  calendarPage(dependencies);
  projectionPage(dependencies);
  dayPage(dependencies);
}
