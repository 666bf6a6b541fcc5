import type { NotificationType, OrganizationAction } from '@wheelhouse/protocol'

/** Who gets a notification: one user, or those members of an organization who may perform an action. */
type Recipient =
  | { readonly userId: string }
  | {
      readonly organizationId: string
      /** The action that the notification is for. By default, to look after a robot's sessions. */
      readonly action?: OrganizationAction
      /** The robot: members of some groups get it if the robot is in one of them. */
      readonly robotId?: string
    }

/** A notification that is to be written. */
export type NewNotification = Recipient & {
  readonly type: NotificationType
  readonly data: Record<string, unknown>
  /** The user who caused it, and who gets no mail about it. */
  readonly actorId?: string | undefined
  /** Whether the user who caused it does not get it. */
  readonly exceptActor?: boolean | undefined
}
