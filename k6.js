import http from 'k6/http';
export const options = { vus: 50, duration: '1s', summaryTrendStats: ['p(50)','p(95)','p(99)','p(99.9)','max'] };
export default function () { http.get(__ENV.URL); }
export function handleSummary(data) { return { stdout: JSON.stringify(data) }; }
