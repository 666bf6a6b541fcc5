import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { NotificationChannel, NotificationGroup } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'

export type NotificationSettings = Schemas['NotificationSettings']
export type QuietHours = Schemas['QuietHours']

/** The label and the explanation of each group of notifications. */
export const groupTexts: Readonly<Record<NotificationGroup, { label: string; description: string }>> = {
  stops: { label: 'Emergency stops', description: 'Stops, and requests to clear one' },
  robot_lost: { label: 'Lost robots', description: 'Connections that were lost or restored' },
  pauses: { label: 'Pauses', description: 'Paused and resumed sessions, operators who are back' },
  sessions: { label: 'Sessions', description: 'Scheduled, started, ended and rated sessions' },
  extensions: { label: 'Extensions', description: 'Requests for more time, and their answers' },
  battery: { label: 'Batteries', description: 'Low batteries of robots' },
  account: { label: 'Account', description: 'Certifications and roles' },
  money: { label: 'Money', description: 'Invoices and payouts' },
  exports: { label: 'Exports', description: 'Exports that are ready or have failed' },
  webhooks: { label: 'Webhooks', description: 'Webhooks that were disabled' },
}

export const channelTexts: Readonly<Record<NotificationChannel, string>> = {
  in_app: 'Pop-up',
  mail: 'E-mail',
}

/** Queries the notification settings of the user. */
export function useNotificationSettings() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: keys.notificationSettings,
    queryFn: () => answerOf(rest.GET('/api/notifications/settings')),
  })
}

/** Changes notification settings and updates the cached ones. */
export function useSettingsChange() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: Schemas['ChangeNotificationSettings']) =>
      answerOf(rest.PATCH('/api/notifications/settings', { body })),
    onSuccess: (settings) => queries.setQueryData(keys.notificationSettings, settings),
  })
}
