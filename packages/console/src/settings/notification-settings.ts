import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { NotificationChannel, NotificationGroup } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'

export type NotificationSettings = Schemas['NotificationSettings']
export type QuietHours = Schemas['QuietHours']

/** The label and the explanation of each group of notifications. */
export const groupTexts: Readonly<Record<NotificationGroup, { label: string; description: string }>> = {
  stops: {
    label: t('settings.groups.stops.label'),
    description: t('settings.groups.stops.description'),
  },
  robot_lost: {
    label: t('settings.groups.robotLost.label'),
    description: t('settings.groups.robotLost.description'),
  },
  pauses: {
    label: t('settings.groups.pauses.label'),
    description: t('settings.groups.pauses.description'),
  },
  sessions: {
    label: t('settings.groups.sessions.label'),
    description: t('settings.groups.sessions.description'),
  },
  extensions: {
    label: t('settings.groups.extensions.label'),
    description: t('settings.groups.extensions.description'),
  },
  battery: {
    label: t('settings.groups.battery.label'),
    description: t('settings.groups.battery.description'),
  },
  account: {
    label: t('settings.groups.account.label'),
    description: t('settings.groups.account.description'),
  },
  money: {
    label: t('settings.groups.money.label'),
    description: t('settings.groups.money.description'),
  },
  exports: {
    label: t('settings.groups.exports.label'),
    description: t('settings.groups.exports.description'),
  },
  webhooks: {
    label: t('settings.groups.webhooks.label'),
    description: t('settings.groups.webhooks.description'),
  },
}

/** The channels that the console offers. */
export const channels = ['in_app', 'mail', 'push'] as const satisfies readonly NotificationChannel[]

export const channelTexts: Readonly<Record<(typeof channels)[number], string>> = {
  in_app: t('settings.channels.popUp'),
  mail: t('settings.channels.email'),
  push: t('settings.channels.browser'),
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
