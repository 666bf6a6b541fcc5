import { consolePath, readMessage, showsPage } from './message.ts'

// The service worker of the console, built as `/dashboard/push-worker.js`: shows pushed notifications and opens their pages.
// It caches nothing and answers no requests.

interface ExtendableEvent {
  waitUntil(work: Promise<unknown>): void
}
interface ConsoleWindow {
  readonly url: string
  focus(): Promise<unknown>
}
/** The part of the global scope of service workers that this script uses; the library of the DOM does not declare it. */
interface WorkerScope {
  readonly location: { readonly origin: string }
  readonly registration: ServiceWorkerRegistration
  readonly clients: {
    matchAll(filter: { type: 'window'; includeUncontrolled: true }): Promise<readonly ConsoleWindow[]>
    openWindow(url: string): Promise<unknown>
  }
  skipWaiting(): Promise<void>
  addEventListener<K extends keyof WorkerEvents>(type: K, listener: (event: WorkerEvents[K]) => void): void
}
interface WorkerEvents {
  readonly install: ExtendableEvent
  readonly push: ExtendableEvent & { readonly data: { text(): string } | null }
  readonly notificationclick: ExtendableEvent & { readonly notification: Notification }
  readonly pushsubscriptionchange: ExtendableEvent & { readonly oldSubscription?: PushSubscription | null }
}

const scope = globalThis as unknown as WorkerScope

async function show(payload: string | undefined): Promise<void> {
  const { title, text, tag, path } = readMessage(payload, scope.location.origin)
  await scope.registration.showNotification(title, { body: text, tag, data: { path } })
}

/** Opens a page in a window that shows it already, or in a new one: an operator may be driving in the others. */
async function open(path: string): Promise<void> {
  const windows = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const shown = windows.find(({ url }) => showsPage(url, path))
  if (shown) await shown.focus()
  else await scope.clients.openWindow(path)
}

/** Subscribes again after the push service has ended a subscription, and sends the new one to the platform. */
async function renew(old: PushSubscription | null | undefined): Promise<void> {
  if (!old?.options.applicationServerKey) return
  const { applicationServerKey } = old.options
  const renewed = await scope.registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey,
  })
  const { endpoint, keys } = renewed.toJSON()
  await fetch('/api/notifications/push/subscriptions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ endpoint, keys }),
  })
}

// A newer script replaces this one at once: no page depends on it.
scope.addEventListener('install', () => void scope.skipWaiting())
scope.addEventListener('push', (event) => event.waitUntil(show(event.data?.text())))
scope.addEventListener('notificationclick', (event) => {
  const { data } = event.notification
  event.notification.close()
  event.waitUntil(open(consolePath(data?.path, scope.location.origin)))
})
scope.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renew(event.oldSubscription)))
