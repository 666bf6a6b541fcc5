import type { Middleware } from 'koa'
import { notAllowed } from '../../core/errors/errors.ts'
import type { Auth } from '../identity/index.ts'
import type { Payments } from './facade.ts'
import { ONBOARDING_PATH } from './recipient.service.ts'

/**
 * Leads an operator on to the provider's page with a fresh link. Only whoever is signed in as that operator gets one,
 * since the link lets its holder say where the money goes; who is not signs in first and comes back here.
 */
export function onboardingPage(deps: { auth: Auth; payments: Payments }): Middleware {
  const { auth, payments } = deps
  return async (http, next) => {
    if (http.path !== ONBOARDING_PATH) return await next()
    if (http.method !== 'GET') throw notAllowed(http.method, ['GET'])
    if (!auth.readSessionCookie(http.req.headers.cookie)) {
      return http.redirect(`/auth/login?return_to=${encodeURIComponent(ONBOARDING_PATH)}`)
    }
    const caller = await auth.identify(http)
    auth.authorize(caller, { role: 'operator', sessionOnly: true })
    const { url } = await payments.recipients.onboard(caller.userId)
    http.redirect(url)
  }
}
