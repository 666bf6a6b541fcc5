import { EventFilter } from '@wheelhouse/protocol'
import { Failure } from '../failure.ts'

/** Filters of events as the platform takes them. @throws Failure for one that takes no event */
export function validateFilters(filters: readonly string[] | undefined): string[] | undefined {
  const wrong = filters?.find((filter) => !EventFilter.safeParse(filter).success)
  if (wrong === undefined) return filters && [...filters]
  const next = 'Give a type such as robot.status, a family such as session.*, or *.'
  throw new Failure('usage', `There is no event "${wrong}". ${next}`)
}
