import {
  createRootRoute,
  createRoute,
  type ErrorComponentProps,
  type RouteComponent,
} from '@tanstack/react-router'
import { NotFound } from '../base/page.tsx'
import { Problem } from '../base/states.tsx'

const RouteProblem = ({ error, reset }: ErrorComponentProps) => <Problem error={error} onRetry={reset} />

export const rootRoute = createRootRoute({ notFoundComponent: NotFound, errorComponent: RouteProblem })

/** The parent of all pages for signed-in users: header, navigation and page. The router gives it its component. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  errorComponent: RouteProblem,
})

/** The parent of pages for signed-in users that fill the window, without header and navigation. */
export const fullWindowRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'full-window',
  errorComponent: RouteProblem,
})

/** Creates the route of a page without search parameters below the shell. */
export const shellPage = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => shellRoute, path, component })
