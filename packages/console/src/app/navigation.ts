import type { OrganizationAction, Role } from '@wheelhouse/protocol'
import type { FC } from 'react'
import {
  IconActivity,
  IconBuilding,
  IconCalendarWeek,
  IconCertificate,
  IconChartBar,
  IconCoins,
  IconDatabase,
  IconHistory,
  IconListDetails,
  IconMail,
  IconMessageCirclePlus,
  IconReceipt,
  IconRobot,
  IconRobotFace,
  IconSettings,
  IconStack,
  IconUsers,
  IconVideo,
} from '../base/icons.tsx'
import { memberMay, useOrganizations } from '../platform/organization.ts'
import { useMe } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'

type Group = 'first' | Role | 'account'
/** Who acts for a team sees the links to what the own role in it allows: those whose `action` it may perform. */
type Link = readonly [
  to: string,
  icon: FC<{ size?: number; stroke?: number }>,
  label: string,
  note: string,
  action?: OrganizationAction,
]

/** The links to pages without parameters, in display order. The groups of a role are for users who have it. */
const links: Readonly<Record<Group, readonly Link[]>> = {
  first: [
    ['/sessions', IconListDetails, t('app.pages.sessions'), t('app.pages.sessionsNote'), 'sessions.read'],
    ['/recordings', IconVideo, t('app.pages.recordings'), t('app.pages.recordingsNote'), 'recordings.read'],
  ],
  operator: [
    ['/available', IconRobotFace, t('app.pages.available'), t('app.pages.availableNote'), 'sessions.drive'],
    ['/certifications', IconCertificate, t('app.pages.certifications'), t('app.pages.certificationsNote')],
    ['/schedule', IconCalendarWeek, t('app.pages.schedule'), t('app.pages.scheduleNote')],
    ['/earnings', IconCoins, t('app.pages.earnings'), t('app.pages.earningsNote')],
  ],
  client: [
    ['/live', IconActivity, t('app.pages.live'), t('app.pages.liveNote'), 'sessions.watch'],
    ['/robots', IconRobot, t('app.pages.robots'), t('app.pages.robotsNote'), 'robots.read'],
    ['/datasets', IconDatabase, t('app.pages.datasets'), t('app.pages.datasetsNote'), 'datasets.read'],
    ['/invoices', IconReceipt, t('app.pages.invoices'), t('app.pages.invoicesNote'), 'billing.read'],
    ['/statistics', IconChartBar, t('app.pages.statistics'), t('app.pages.statisticsNote'), 'robots.read'],
  ],
  admin: [
    ['/admin', IconActivity, t('app.pages.overview'), t('app.pages.overviewNote')],
    ['/admin/sessions', IconListDetails, t('app.pages.allSessions'), t('app.pages.allSessionsNote')],
    ['/admin/robots', IconRobotFace, t('app.pages.allRobots'), t('app.pages.allRobotsNote')],
    ['/admin/users', IconUsers, t('app.pages.people'), t('app.pages.peopleNote')],
    ['/admin/certifications', IconCertificate, t('app.pages.requests'), t('app.pages.requestsNote')],
    ['/admin/messages', IconMail, t('app.pages.messages'), t('app.pages.messagesNote')],
    [
      '/admin/robot-requests',
      IconMessageCirclePlus,
      t('app.pages.robotRequests'),
      t('app.pages.robotRequestsNote'),
    ],
    ['/admin/robot-models', IconRobot, t('app.pages.robotModels'), t('app.pages.robotModelsNote')],
    ['/admin/jobs', IconStack, t('app.pages.jobs'), t('app.pages.jobsNote')],
    ['/admin/audit', IconHistory, t('app.pages.audit'), t('app.pages.auditNote')],
  ],
  account: [
    ['/organization', IconBuilding, t('app.pages.organization'), t('app.pages.organizationNote')],
    ['/settings', IconSettings, t('common.settings'), t('app.pages.settingsNote')],
  ],
}

const titles: Readonly<Record<Group, string>> = {
  first: '',
  operator: t('common.operator'),
  client: t('common.owner'),
  admin: t('app.navigation.admin'),
  account: t('common.account'),
}

export const navigation = (Object.keys(links) as Group[]).map((group) => ({
  group,
  title: titles[group],
  entries: links[group].map(([to, icon, label, description, action]) => ({
    to,
    icon,
    label,
    description,
    action,
  })),
}))

export type NavigationEntry = (typeof navigation)[number]['entries'][number]

/** Returns the navigation of the signed-in user. Users who are only admins have no part in sessions. */
export function useNavigation() {
  const { roles } = useMe()
  const { acting, isTeam } = useOrganizations()
  const isAllowed = ({ action }: NavigationEntry) => action !== undefined && memberMay(acting, action)
  return navigation
    .filter(({ group }) => {
      if (group === 'account') return true
      return group === 'first' ? roles.some((role) => role !== 'admin') : roles.includes(group)
    })
    .map(({ entries, ...group }) => ({
      ...group,
      entries:
        isTeam && group.group !== 'admin' && group.group !== 'account' ? entries.filter(isAllowed) : entries,
    }))
    .filter(({ entries }) => entries.length > 0)
}
