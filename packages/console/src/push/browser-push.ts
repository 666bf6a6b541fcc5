import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'

/** The scope of the service worker: all pages of the console. */
const SCOPE = '/dashboard'
const WORKER = `${SCOPE}/push-worker.js`
/** A sign-out does not wait longer for the removal of this browser. */
const REMOVAL_LIMIT_MS = 2_000

/**
 * What this browser does with pushed notifications. `insecure`: the page was not loaded over HTTPS or from this machine.
 * `denied`: the user has blocked notifications for this page.
 */
export type PushState = 'insecure' | 'unsupported' | 'denied' | 'off' | 'on'

export type PushDevice = Schemas['PushSubscription']

type Rest = Pick<RestClient, 'GET' | 'POST' | 'DELETE'>

const SUBSCRIPTIONS = '/api/notifications/push/subscriptions'

function obstacle(): PushState | undefined {
  if (!window.isSecureContext) return 'insecure'
  const supported = 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window
  return supported ? undefined : 'unsupported'
}

async function currentSubscription(): Promise<PushSubscription | null> {
  if (obstacle()) return null
  const registration = await navigator.serviceWorker.getRegistration(SCOPE)
  return (await registration?.pushManager.getSubscription()) ?? null
}

/** Returns the devices of the user and what this browser does, with the entry of this browser if it is subscribed. */
export async function loadPush(
  rest: Rest,
): Promise<{ devices: PushDevice[]; state: PushState; own: PushDevice | undefined }> {
  const [{ subscriptions }, subscription] = await Promise.all([
    answerOf(rest.GET(SUBSCRIPTIONS)),
    currentSubscription(),
  ])
  const own = subscriptions.find(({ endpoint }) => endpoint === subscription?.endpoint)
  const denied = () => (Notification.permission === 'denied' ? 'denied' : 'off')
  return { devices: subscriptions, state: own ? 'on' : (obstacle() ?? denied()), own }
}

/** Asks the user for permission and subscribes this browser. Does nothing if the user refuses. */
export async function turnOnPush(rest: Rest): Promise<void> {
  if ((await Notification.requestPermission()) !== 'granted') return
  const { public_key: applicationServerKey } = await answerOf(rest.GET('/api/notifications/push/key'))
  await navigator.serviceWorker.register(WORKER, { scope: SCOPE })
  const { pushManager } = await navigator.serviceWorker.ready
  // A subscription with an earlier key of the platform would receive nothing.
  await (await pushManager.getSubscription())?.unsubscribe()
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })
  try {
    const { endpoint = '', keys } = subscription.toJSON()
    const body = { endpoint, keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } }
    await answerOf(rest.POST(SUBSCRIPTIONS, { body }))
  } catch (cause) {
    await subscription.unsubscribe()
    throw cause
  }
}

/** Removes a device of the user; this browser also unsubscribes at its push service. */
export async function removeDevice(rest: Rest, { id, endpoint }: PushDevice): Promise<void> {
  await answerOf(rest.DELETE(`${SUBSCRIPTIONS}/{id}`, { params: { path: { id } } }))
  const subscription = await currentSubscription()
  if (subscription?.endpoint === endpoint) await subscription.unsubscribe()
}

/**
 * Unsubscribes this browser if the platform does not list it for the signed-in user: another user of this browser subscribed it, or it was
 * removed on another device.
 */
export async function dropForeignSubscription(rest: Rest): Promise<void> {
  const subscription = await currentSubscription()
  if (!subscription) return
  const { subscriptions } = await answerOf(rest.GET(SUBSCRIPTIONS))
  if (!subscriptions.some(({ endpoint }) => endpoint === subscription.endpoint))
    await subscription.unsubscribe()
}

/** Removes this browser before a sign-out. Never fails, and takes two seconds at most. */
export async function removeBeforeSignOut(): Promise<void> {
  const limit = AbortSignal.timeout(REMOVAL_LIMIT_MS)
  const timeout = new Promise<void>((done) => limit.addEventListener('abort', () => done()))
  await Promise.race([timeout, remove(limit).catch((cause) => console.warn('push:', cause))])
}

async function remove(signal: AbortSignal): Promise<void> {
  const subscription = await currentSubscription()
  if (!subscription) return
  // The push service refuses further messages, even if the platform cannot be reached.
  const ended = subscription.unsubscribe()
  const reply = await fetch(SUBSCRIPTIONS, { signal })
  const { subscriptions }: { subscriptions?: PushDevice[] } = await reply.json()
  const own = subscriptions?.find(({ endpoint }) => endpoint === subscription.endpoint)
  if (own) await fetch(`${SUBSCRIPTIONS}/${own.id}`, { method: 'DELETE', signal })
  await ended
}
