import type { ErrorComponentProps } from '@tanstack/react-router'
import { Problem } from '../ui/states.tsx'

/** Replaces a page that failed to load. */
export const RouteProblem = ({ error, reset }: ErrorComponentProps) => (
  <Problem error={error} onRetry={reset} />
)
