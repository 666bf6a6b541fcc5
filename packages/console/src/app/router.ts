import { createRouter } from '@tanstack/react-router'
import { Loading } from '../ui/states.tsx'
import { fullWindowRoutes, routes } from './features.ts'
import { fullWindowRoute, rootRoute, shellRoute, signedInRoute } from './root-routes.ts'

const routeTree = rootRoute.addChildren([
  signedInRoute,
  shellRoute.addChildren(routes),
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
