import { EventFilter } from '@wheelhouse/protocol'
import { Failure } from '../failure.ts'

/** Filters of events as the platform takes them. @throws Failure for one that takes no event */
export function checkedFilters(given: readonly string[] | undefined): string[] | undefined {
  const wrong = given?.find((filter) => !EventFilter.safeParse(filter).success)
  if (wrong === undefined) return given && [...given]
  const next = 'Give a type such as robot.status, a family such as session.*, or *.'
  throw new Failure('usage', `There is no event "${wrong}". ${next}`)
}
