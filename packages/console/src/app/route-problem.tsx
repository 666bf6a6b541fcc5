import type { ErrorComponentProps } from '@tanstack/react-router'
import { Problem } from '../ui/states.tsx'

/** What stands in the place of a page that failed. */
export const RouteProblem = ({ error, reset }: ErrorComponentProps) => (
  <Problem error={error} onRetry={reset} />
)
