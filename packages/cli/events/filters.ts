import { EventFilter } from '@wheelhouse/protocol'
import { Failure } from '../failure.ts'

/** Validates event filters. @throws Failure for a filter that matches no event type */
export function validateFilters(filters: readonly string[] | undefined): string[] | undefined {
  const wrong = filters?.find((filter) => !EventFilter.safeParse(filter).success)
  if (wrong === undefined) return filters && [...filters]
  const next = 'Enter a type such as robot.status, a family such as session.*, or *.'
  throw new Failure('usage', `No event type matches "${wrong}". ${next}`)
}
