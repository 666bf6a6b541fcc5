import { createRootRoute, createRoute } from '@tanstack/react-router'
import { SignedIn } from '../auth/sign-in.tsx'
import { NotFound } from '../ui/page.tsx'
import { FullWindow } from './full-window.tsx'
import { RouteProblem } from './route-problem.tsx'
import { Shell } from './shell.tsx'

export const rootRoute = createRootRoute({ notFoundComponent: NotFound, errorComponent: RouteProblem })

/** The parent of all pages for signed-in users: header, navigation and page. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  errorComponent: RouteProblem,
})

/** The parent of pages for signed-in users that fill the window, without header and navigation. */
export const fullWindowRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'full-window',
  component: FullWindow,
  errorComponent: RouteProblem,
})

/** Completes a sign-in in a second window. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/signed-in',
  component: SignedIn,
})
