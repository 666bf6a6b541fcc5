import type { Middleware } from 'koa'
import { notAllowed } from '../../core/errors/errors.ts'
import type { Auth } from '../identity/index.ts'
import type { Payments } from './module.ts'
import { ONBOARDING_PATH } from './recipient.service.ts'

/**
 * Redirects an operator to Stripe's onboarding page with a new link. It requires a session of the operator, because the
 * link allows its holder to change the payout account. Without a session, it redirects to the sign-in first.
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
    auth.authorize(caller, { role: 'operator', sessionOnly: true }, http.method)
    const { url } = await payments.recipients.onboard(caller.userId)
    http.redirect(url)
  }
}
