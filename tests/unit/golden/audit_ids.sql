SELECT t.* FROM (
SELECT q."SOURCE_ID" AS SOURCE_ID, NULL AS TENANT_ID FROM (
select * from task
) q
) t WHERE LENGTHB(TO_CHAR(t.SOURCE_ID)) <= :id_bytes AND t.SOURCE_ID > :range_after AND t.SOURCE_ID <= :range_upto
