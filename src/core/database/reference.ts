import { type PrimaryKeyProp, p } from '@mikro-orm/core'

/** The entities that tables of other modules refer to. The primary key of each is the uuid `id`. */
export type ReferencedEntity =
  | 'User'
  | 'Organization'
  | 'Robot'
  | 'Session'
  | 'Invoice'
  | 'Payout'
  | 'PricingPlan'

interface Referenced {
  readonly '~entity': { readonly id: string; readonly [PrimaryKeyProp]?: 'id' }
}

/**
 * Declares a foreign key to a table of another module. The target is a name, so that the entity of one module does
 * not import the entity of another. `app/database/orm.ts`, which imports all entities, resolves the name.
 */
export const referenceTo = (entity: ReferencedEntity) =>
  p.manyToOne(entity as unknown as Referenced).mapToPk()
