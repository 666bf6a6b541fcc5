import { createRoute, createRouter } from '@tanstack/react-router'
import { NotFound } from '../base/page.tsx'
import { Loading } from '../base/states.tsx'
import { fullWindowRoute, rootRoute, shellRoute } from '../platform/root-routes.tsx'
import { fullWindowRoutes, routes } from './features.ts'
import { FullWindow, Shell } from './shell.tsx'
import { SignedIn } from './sign-in.tsx'

/** Completes a sign-in in a second window. */
const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/signed-in',
  component: SignedIn,
})

// Features import the routes above their pages, but not the shell, which contains parts of features.
shellRoute.update({ component: Shell })
fullWindowRoute.update({ component: FullWindow })

/** An unknown address keeps the navigation. */
const unknownRoute = createRoute({ getParentRoute: () => shellRoute, path: '$', component: NotFound })

const routeTree = rootRoute.addChildren([
  signedInRoute,
  shellRoute.addChildren([...routes, unknownRoute]),
  fullWindowRoute.addChildren(fullWindowRoutes),
])

export const createConsoleRouter = () =>
  createRouter({
    routeTree,
    basepath: '/dashboard',
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    scrollRestoration: true,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}
