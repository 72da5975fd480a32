/** How often a job encodes: whole passes over its logins, with about as many items in all as it is told. */
export const encodingsOf = ({ job_items, logins, items }) =>
  logins * Math.max(1, Math.round(job_items / (logins * items)));
