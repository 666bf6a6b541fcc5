-- Exports whose commands have the times of the pictures that their operators saw.
alter table dataset_exports
  add column align text not null default 'time',
  add constraint dataset_exports_align_check check (align in ('time', 'seen'));
