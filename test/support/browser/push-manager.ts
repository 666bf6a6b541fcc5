import type { BrowserContext } from 'playwright-core'
import type { FakePushService } from '../network/push-service.ts'

type Subscription = ReturnType<FakePushService['browser']>['subscription']

/**
 * Replaces the push manager of all pages of a context, which cannot reach a push service here: it returns a subscription at a
 * substitute. Everything else is the browser's.
 */
export async function subscribeAt(context: BrowserContext, subscription: Subscription): Promise<void> {
  await context.grantPermissions(['notifications'])
  await context.addInitScript(`(() => {
    const subscribed = () => {
      if (localStorage.getItem('push-stand-in') === null) return null
      return {
        endpoint: ${JSON.stringify(subscription.endpoint)},
        toJSON: () => (${JSON.stringify(subscription)}),
        unsubscribe: async () => (localStorage.removeItem('push-stand-in'), true),
      }
    }
    PushManager.prototype.getSubscription = async () => subscribed()
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
      localStorage.setItem('push-stand-in', applicationServerKey)
      return subscribed()
    }
  })()`)
}

/** Returns the key of the platform with which a page is subscribed, or null. */
export const SUBSCRIBED_KEY = `localStorage.getItem('push-stand-in')`
