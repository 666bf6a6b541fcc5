import { readdirSync, readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { ConsoleData } from './console-data.ts'
import type { Viewer } from './console-pages.ts'

/** A dialog, drawer, menu or sheet of the console, and how a user opens it. */
export interface ConsoleDialog {
  /** The file that renders it, below `packages/console/src`. */
  readonly source: string
  readonly viewer: Viewer
  /** The page that has its opener, below `/dashboard`. */
  readonly path: string
  /** The English names of the buttons, tabs and links that are pressed, one after another. `keys:` begins a combination of keys. */
  readonly press: readonly string[]
}

/** The dialogs that need more than a press of a button. These tests open them and check their accessibility. */
export const DIALOGS_OF_OTHER_TESTS: Readonly<Record<string, string>> = {
  'admin/jobs.page.tsx': 'admin.test.ts',
  'app/more-drawer.tsx': 'sessions.test.ts',
  'app/sign-in-dialog.tsx': 'onboarding-and-settings.test.ts',
  'data/datasets.page.tsx': 'recordings.test.ts',
  'drive/cockpit-view.tsx': 'cockpit-layout.test.ts',
  'drive/command-menu.tsx': 'cockpit-layout.test.ts',
  'drive/sheets.tsx': 'cockpit-layout.test.ts',
  'operator/available.page.tsx': 'operator.test.ts',
  'operator/earnings.page.tsx': 'operator.test.ts',
  'replay/session-replay.tsx': 'replay.test.ts',
  'replay/view/plots.tsx': 'replay.test.ts',
  'replay/view/replay-view.tsx': 'replay.test.ts',
  'session/clear-stop.tsx': 'sessions.test.ts',
  'session/notices.tsx': 'abandoned-session.test.ts',
  'settings/notification-section.tsx': 'push.test.ts',
  'wall/live-tile.tsx': 'wall.test.ts',
}

/** The building blocks that the others use. */
const BLOCKS = ['base/confirm-button.tsx', 'base/secret.tsx']
const RENDERS_DIALOG =
  /<(Modal|Modal\.Root|Drawer|Menu|Popover|ConfirmButton|ConfirmDialog|LeaveDialog|SecretDialog)[\s>]/

/** Returns the files of the console that render a dialog. */
export function dialogSources(): string[] {
  const folder = new URL('../../../packages/console/src/', import.meta.url)
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx') && !name.startsWith('gallery/') && !BLOCKS.includes(name))
    .filter((name) => RENDERS_DIALOG.test(readFileSync(new URL(name, folder), 'utf8')))
}

const dialog = (source: string, path: string, ...press: string[]) => ({
  source: `${source}.tsx`,
  path,
  press,
})

const ownerDialogs = ({ names, robots, sessions, webhookId }: ConsoleData) => {
  const webhook = `/settings/webhooks/${webhookId}`
  return [
    dialog('app/user-menu', '/', `Account of ${names.owner}`),
    dialog('app/palette', '/', 'keys:Control+k'),
    dialog('app/palette', '/', 'keys:?'),
    dialog('notifications/drawer', '/', 'Notifications…'),
    dialog('list/data-list', '/sessions', 'Views'),
    dialog('session/session-actions', '/sessions', `Cancel: ${names.ready}`),
    dialog('session/session-actions', `/sessions/${sessions.open}`, 'End'),
    dialog('session/foxglove-dialog', `/sessions/${sessions.open}`, 'Values', 'Open in Foxglove'),
    dialog('session/session-actions', `/sessions/${sessions.planned}`, `Cancel: ${names.ready}`),
    dialog('session/exports.page', '/exports', 'Remove: CSV export'),
    dialog('robots/robot.page', `/robots/${robots.driven}?tab=access`, 'Hold robot'),
    dialog('robots/robot.page', `/robots/${robots.offline}`, 'Release hold'),
    dialog('robots/robot.page', `/robots/${robots.offline}?tab=connect`, 'Replace token'),
    dialog('robots/robot-settings-form', `/robots/${robots.offline}?tab=settings`, 'Remove robot'),
    dialog('settings/settings.page', '/settings', 'Remove role: Owner'),
    dialog('settings/settings.page', '/settings', 'Create API key'),
    dialog('settings/settings.page', '/settings', 'Revoke test'),
    dialog('settings/own-data', '/settings', 'Delete account'),
    dialog('webhooks/webhooks', '/settings', 'Add webhook'),
    dialog('webhooks/webhook.page', webhook, 'Resend missed events'),
    dialog('webhooks/webhook.page', webhook, 'Disable'),
    dialog('webhooks/webhook.page', webhook, 'Replace secret'),
    dialog('webhooks/webhook.page', webhook, 'Remove webhook'),
  ]
}

const teamDialogs = ({ names, robots, team }: ConsoleData) => [
  dialog('organization/fields', '/organization', 'Create team'),
  dialog('organization/members', '/organization', `Change ${names.operator}`),
  dialog('organization/members', '/organization', `Remove ${names.operator}`),
  dialog('organization/invitations', '/organization', 'Invite member'),
  dialog('organization/invitations', '/organization', `Revoke the invitation of ${team.invited}`),
  dialog('organization/groups', '/organization', `Delete ${team.group}`),
  dialog('organization/organization.page', '/organization', 'Leave team'),
  dialog('organization/service-accounts', '/organization', 'Create service account'),
  dialog('organization/service-accounts', '/organization', `Delete ${names.program}`),
  ...['Create API key', 'Rotate Rotterdam…', 'Revoke Rotterdam…'].map((name) =>
    dialog('organization/service-account.page', `/organization/service-accounts/${team.accountId}`, name),
  ),
  dialog('organization/data-grants', '/organization', 'Revoke the access…'),
  dialog('organization/data-grants', `/robots/${robots.team}?tab=data`, 'Grant access'),
  dialog('robots/transfer-robot', `/robots/${robots.team}?tab=settings`, 'Transfer robot'),
]

const operatorDialogs = [
  dialog('operator/schedule.page', '/schedule', 'Copy Monday to other days'),
  dialog('operator/schedule.page', '/schedule', 'Add hours on Sunday', 'Home'),
]

const adminDialogs = ({ names, operator }: ConsoleData) => {
  const user = `/admin/users/${operator.id}`
  return [
    dialog('admin/user.page', user, 'Remove role: Operator'),
    dialog('admin/user.page', user, 'Suspend'),
    dialog('admin/admin-page', user, `Revoke ${names.operator} for ${names.type}`),
    dialog('admin/overview.page', '/admin', `End the session on ${names.driven}`),
    dialog('admin/certifications.page', '/admin/certifications', `Approve ${names.operator} for crane`),
    dialog('admin/certifications.page', '/admin/certifications', `Reject ${names.operator} for crane`),
  ]
}

/** Returns all dialogs of the console that a press opens. */
export const dialogsOf = (data: ConsoleData): readonly ConsoleDialog[] => [
  ...ownerDialogs(data).map((entry) => ({ viewer: 'owner' as const, ...entry })),
  ...teamDialogs(data).map((entry) => ({ viewer: 'team' as const, ...entry })),
  ...operatorDialogs.map((entry) => ({ viewer: 'operator' as const, ...entry })),
  ...adminDialogs(data).map((entry) => ({ viewer: 'admin' as const, ...entry })),
]

/** Returns the pattern of a name; one that ends in `…` is the beginning of the pattern. */
function patternOf(name: string): RegExp {
  const text = name.replace(/…$/, '')
  const escaped = text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped}${text === name ? '$' : ''}`)
}

/** Opens a dialog on its page. */
export async function openDialog(page: Page, { press }: ConsoleDialog): Promise<void> {
  const opened = page.locator('[role=dialog], [role=menu]').filter({ visible: true })
  for (const name of press) {
    if (name.startsWith('keys:')) {
      // The header handles keys as soon as it shows the key of the palette.
      await page.locator('header kbd').first().waitFor()
      await page.keyboard.press(name.slice('keys:'.length))
    } else {
      const opener = page
        .locator('button, a[href], [role=button]')
        .and(page.getByRole('button', { name: patternOf(name) }))
      await opener
        .or(page.getByRole('link', { name: patternOf(name) }))
        .or(page.getByRole('tab', { name: patternOf(name) }))
        .first()
        .click()
    }
  }
  await opened.first().waitFor()
}
